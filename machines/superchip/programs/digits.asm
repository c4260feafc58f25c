.machine superchip
; digits.asm: draws the ten large digits
;
;   lathe run machines/superchip/programs/digits.asm
;
; The idea: LD HF, V0 points I to the large sprite of the digit in V0, ten rows of
; eight pixels. Five digits make a row.
;
;   V0       the digit
;   V1, V2   where it goes

        HIGH
        LD V0, 0
        LD V1, 12
        LD V2, 14
next:   LD HF, V0
        DRW V1, V2, 10
        ADD V0, 1
        ADD V1, 24
        SNE V1, 132             ; the end of the row
        CALL row
        SE V0, 10
        JP next
        EXIT

row:    LD V1, 12
        ADD V2, 26
        RET
