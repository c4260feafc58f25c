.machine stack8b
; hanoi.asm: the Towers of Hanoi
;
; To move four discs: move three out of the way, move the largest, move the three on top of
; it. The routine calls itself for the three. On a stack machine this costs nothing extra:
; arguments and the way back are on the stack, and each call has its own.
;
; With the pegs named 1, 2 and 3, the third is the exclusive-or of the other two.
;
;   lathe run machines/stack8b/programs/hanoi.asm
;
; on the stack, for each call: discs, from, to, and the way back

DISCS   = 4

        .include "lib.asm"

        psh DISCS
        x1
        x3
        call hanoi
        htl

; hanoi ( discs from to -- )
hanoi:  ldo 3                   ; discs from to back
        unless .done            ; no disc: nothing to do

        ldo 3                   ; discs - 1, from the same peg …
        dec
        ldo 3
        ldo 3
        ldo 1
        xor                     ; … to the third one
        call hanoi

        psh move                ; `disc 4: 1 -> 3`
        call puts
        ldo 3
        call digit
        psh colon
        call puts
        ldo 2
        call digit
        psh arrow
        call puts
        ldo 1
        call digit
        emit '\n'

        ldo 3                   ; discs - 1, from the third peg …
        dec
        ldo 2
        ldo 4
        xor
        ldo 3                   ; … to where the large one is
        call hanoi

.done:  sto 2                   ; back from to: the way back under the others, which go
        drp
        drp
        return

; digit ( 0…9 -- ) prints it.
digit:  swp
        psh '0'
        add
        out 0
        return

        puts_here

move:   .asciiz "disc "
colon:  .asciiz ": "
arrow:  .asciiz " -> "
