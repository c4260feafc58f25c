; hanoi.asm: the towers of Hanoi, with three discs
;
;   lathe run machines/pdp11/programs/hanoi.asm
;
; The idea: the arguments are on the stack, where `2(sp)` and so on reach them. `mark` takes
; them away: the caller puts it on the stack below them, and `rts r5` executes it there.
;
; expect: output "ac ab cb ac ba bc ac \n"

.machine pdp11

main:   mov #main, sp
        mov r5, -(sp)
        mov #'b', -(sp)
        mov #'c', -(sp)
        mov #'a', -(sp)
        mov #3, -(sp)
        mov #0x0D04, -(sp)      ; mark 4
        mov sp, r5
        call move
        call newline
        halt

; move: the discs in 2(r5) from the pole in 4(r5) to that in 6(r5), over that in 8(r5).

move:   tst 2(r5)
        beq .done
        mov r5, -(sp)           ; all but the largest go over
        mov 6(r5), -(sp)
        mov 8(r5), -(sp)
        mov 4(r5), -(sp)
        mov 2(r5), -(sp)
        dec (sp)
        mov #0x0D04, -(sp)
        mov sp, r5
        call move
        mov 4(r5), r0           ; the largest
        call putc
        mov 6(r5), r0
        call putc
        mov #' ', r0
        call putc
        mov r5, -(sp)           ; and the others on top of it
        mov 4(r5), -(sp)
        mov 6(r5), -(sp)
        mov 8(r5), -(sp)
        mov 2(r5), -(sp)
        dec (sp)
        mov #0x0D04, -(sp)
        mov sp, r5
        call move
.done:  rts r5

        .include "lib.asm"
