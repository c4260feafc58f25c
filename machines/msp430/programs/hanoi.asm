; hanoi.asm: moves a tower of four disks
;
;   lathe run machines/msp430/programs/hanoi.asm
;
; The idea: to move n disks, move n - 1 to the spare peg, then the last one, then the n - 1 onto it. What a call must
; remember is pushed; the three pegs turn places in registers.
;
; expect: output "AB AC BC AB CA CB AB AC BC BA CA BC AB AC BC \n"

.machine msp430

main:   mov #0x0A00, sp
        mov #4, r4
        mov #'A', r5            ; from
        mov #'C', r6            ; to
        mov #'B', r7            ; the spare one
        call #move
        call #newline
        halt

move:   tst r4
        jz .done
        push r4
        dec r4
        call #swap_to
        call #move
        call #swap_to
        mov r5, r12
        call #putc
        mov r6, r12
        call #putc
        mov #' ', r12
        call #putc
        call #swap_from
        call #move
        call #swap_from
        pop r4
.done:  ret

swap_to:
        xor r6, r7
        xor r7, r6
        xor r6, r7
        ret

swap_from:
        xor r5, r7
        xor r7, r5
        xor r5, r7
        ret

        .include "lib.asm"
