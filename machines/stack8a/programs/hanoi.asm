.machine stack8a
; hanoi.asm: the Towers of Hanoi, as a list of moves
;
; To move five discs: move four out of the way, move the largest, move the four on top of
; it. The routine calls itself for the four. On a stack machine this costs nothing extra:
; arguments and the way back are on the stack, and each call has its own.
;
; With the pegs named 1, 2 and 3, the third is the exclusive-or of the other two.
;
;   lathe run machines/stack8a/programs/hanoi.asm
;
; data 0x00 … 0x1E  the moves; 0x13 means from peg 1 to peg 3
; data 0x80         where the next move goes; at the end, how many there are
;
; expect: data[0x00] = 19, 18, 50, 19, 33, 35, 19, 18, 50, 49, 33, 50, 19, 18, 50, 19, 33, 35, 19, 33, 50, 49, 33, 35, 19, 18
; expect: data[0x1A] = 50, 19, 33, 35, 19, 0
; expect: data[0x80] = 31
; expect: sp = 0

DISCS   = 5
NEXT    = 0x80

        .include "lib.asm"

        psh DISCS
        x1
        x3
        call hanoi
        htl

; hanoi ( discs from to -- )
hanoi:  ldo 3                   ; discs from to back
        nez
        unless .done            ; no disc: nothing to do

        ldo 3                   ; discs - 1, from the same peg …
        dec
        ldo 3
        ldo 3
        ldo 1
        xor                     ; … to the third one
        call hanoi

        ldo 2                   ; note the move: from in the upper half, to in the lower
        shl 4
        ldo 2
        oor
        get NEXT
        sta
        get NEXT
        inc
        put NEXT

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
