.machine chip8
; sierpinski.asm: draws the triangle of Sierpinski
;
;   lathe run machines/chip8/programs/sierpinski.asm
;
; The idea: a pixel is on where x and y have no bit in common. That is Pascal's
; triangle, odd and even, with its tip in the corner.
;
;   V0, V1   x and y
;   V2       the bits that they share

        .org 0x200

        LD I, pixel
        LD V1, 0
row:    LD V0, 0
column: LD V2, V0
        AND V2, V1
        SNE V2, 0
        DRW V0, V1, 1
        ADD V0, 1
        SE V0, 64
        JP column
        ADD V1, 1
        SE V1, 32
        JP row
        JP $

pixel:  db 0b10000000
