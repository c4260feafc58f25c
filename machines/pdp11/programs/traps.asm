; traps.asm: calls an operating system, and survives what is no instruction
;
;   lathe run machines/pdp11/programs/traps.asm
;
; The idea: `trap n` goes to the handler at vector 0o34. The word before the return address
; is the `trap` itself, and its low byte says what is wanted. What is no instruction goes to
; vector 0o10.
;
; expect: output "one two reserved\n"

.machine pdp11

main:   mov #main, sp
        mov #serve, @#0o34
        clr @#0o36
        mov #bad, @#0o10
        clr @#0o12
        trap 0
        trap 2
        .le16 7                 ; no instruction of this machine
        halt

serve:  mov r0, -(sp)
        mov 2(sp), r0           ; where it returns
        movb -2(r0), r0         ; the number of the trap
        mov table(r0), r0
        call puts
        mov (sp)+, r0
        rti

bad:    mov r0, -(sp)
        mov #third, r0
        call puts
        mov (sp)+, r0
        rti

table:  .le16 first, second
        .include "lib.asm"
first:  .asciiz "one "
second: .asciiz "two "
third:  .asciiz "reserved\n"
