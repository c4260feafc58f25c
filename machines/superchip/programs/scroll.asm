.machine superchip
; scroll.asm: a staircase made by scrolling
;
;   lathe run machines/superchip/programs/scroll.asm
;
; The idea: draw a box in the corner, move the screen four pixels to the right and five
; down, and draw the next. What leaves the screen is gone. At the end everything moves
; back to the left twice.
;
;   V0, V1   the corner
;   V2       boxes that are left
;
; expect: v2 = 0

        HIGH
        LD V2, 14
        LD I, box
next:   SCR
        SCD 5
        DRW V0, V1, 8
        ADD V2, -1
        SE V2, 0
        JP next
        SCL
        SCL
        EXIT

box:    db 0b11111111
        db 0b10000001
        db 0b10000001
        db 0b10000001
        db 0b10000001
        db 0b10000001
        db 0b10000001
        db 0b11111111
