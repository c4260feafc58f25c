.machine chip8
; digits.asm: draws the sixteen digits that the machine has sprites for
;
;   lathe run machines/chip8/programs/digits.asm
;
; The idea: LD F, V0 points I to the sprite of the digit in V0, five rows of
; four pixels. DRW draws it. Eight digits make a row.
;
;   V0       the digit
;   V1, V2   where it goes

        .org 0x200

        LD V0, 0
        LD V1, 2
        LD V2, 5
next:   LD F, V0
        DRW V1, V2, 5
        ADD V0, 1
        ADD V1, 8
        SNE V1, 66              ; the end of the row
        CALL row
        SE V0, 16
        JP next
        JP $                    ; a jump to itself: the machine halts

row:    LD V1, 2
        ADD V2, 15
        RET
