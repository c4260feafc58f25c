; coroutines.asm: two routines that take turns
;
;   lathe run machines/pdp11/programs/coroutines.asm
;
; The idea: `jsr pc, @(sp)+` takes the other routine's place from the stack, leaves its own
; there and goes on where the other one was. It is one instruction because the operand is
; worked out before anything is pushed.
;
; expect: output "a1 b2 c3 d4 \n"

.machine pdp11

main:   mov #main, sp
        mov #digits, -(sp)      ; where the other one begins
        mov #'a', r1
next:   mov r1, r0
        call putc
        jsr pc, @(sp)+
        mov #' ', r0
        call putc
        inc r1
        cmp r1, #'e'
        bne next
        tst (sp)+
        call newline
        halt

digits: mov #'1', r2
.next:  mov r2, r0
        call putc
        jsr pc, @(sp)+
        inc r2
        br .next

        .include "lib.asm"
