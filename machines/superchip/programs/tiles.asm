.machine superchip
; tiles.asm: a floor of sprites of 16 by 16 pixels
;
;   lathe run machines/superchip/programs/tiles.asm
;
; The idea: DRW with 0 in the place of the height draws 32 bytes, two for each row. Eight
; tiles fill a row of the screen, four rows the screen. They do not overlap, so VF stays 0.
;
;   V0, V1   where the tile goes
;   V2       collisions
;
; expect: v1 = 64
; expect: v2 = 0

        HIGH
        LD V1, 0
row:    LD V0, 0
        LD I, tile
next:   DRW V0, V1, 0
        OR V2, VF
        ADD V0, 16
        SE V0, 128
        JP next
        ADD V1, 16
        SE V1, 64
        JP row
        EXIT

tile:   dw 0b1111111111111111
        dw 0b1000000000000001
        dw 0b1011111111111101
        dw 0b1010000000000101
        dw 0b1010111111110101
        dw 0b1010100000010101
        dw 0b1010101111010101
        dw 0b1010101001010101
        dw 0b1010101001010101
        dw 0b1010101111010101
        dw 0b1010100000010101
        dw 0b1010111111110101
        dw 0b1010000000000101
        dw 0b1011111111111101
        dw 0b1000000000000001
        dw 0b1111111111111111
