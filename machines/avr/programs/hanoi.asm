; hanoi.asm: the towers of Hanoi, three discs
;
;   lathe run machines/avr/programs/hanoi.asm
;
; The idea: to move n discs, move n - 1 out of the way, then the last, then the others onto it. The
; pegs are added up to 6, so the third one is 6 minus the other two. What a call needs later is
; on the stack.
;
; expect: output "13 12 32 13 21 23 13 \n"

.machine avr

main:   ldi r20, 3              ; discs
        ldi r21, 1              ; from
        ldi r22, 3              ; to
        rcall move
        rcall newline
        sleep

move:   tst r20
        breq .done
        push r20
        push r21
        push r22
        dec r20
        ldi r23, 6
        sub r23, r21
        sub r23, r22
        mov r22, r23            ; out of the way
        rcall move
        pop r22
        pop r21
        mov r16, r21
        subi r16, -'0'
        rcall putc
        mov r16, r22
        subi r16, -'0'
        rcall putc
        ldi r16, ' '
        rcall putc
        ldi r23, 6
        sub r23, r21
        sub r23, r22
        mov r21, r23            ; and back
        pop r20
        push r20
        dec r20
        rcall move
        pop r20
.done:  ret

        .include "lib.asm"
