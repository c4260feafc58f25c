.machine chip8
; maze.asm: fills the screen with diagonal lines that make a maze
;
;   lathe run machines/chip8/programs/maze.asm
;
; The idea: an old one. Go over the screen in squares of four pixels, and draw one
; of the two diagonals in each, as chance has it.
;
;   V0, V1   the square
;   V2       the random number

        .org 0x200

        LD V0, 0
        LD V1, 0
square: LD I, falling
        RND V2, 1
        SE V2, 1
        LD I, rising
        DRW V0, V1, 4
        ADD V0, 4
        SE V0, 64
        JP square
        LD V0, 0
        ADD V1, 4
        SE V1, 32
        JP square
        JP $

rising: db 0b00010000
        db 0b00100000
        db 0b01000000
        db 0b10000000
falling:
        db 0b10000000
        db 0b01000000
        db 0b00100000
        db 0b00010000
