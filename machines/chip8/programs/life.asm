.machine chip8
; life.asm: twenty generations of Conway's game of life
;
;   lathe run machines/chip8/programs/life.asm
;
; The idea: a field of sixteen by eight cells, four by four pixels each, whose edges
; are joined. A byte of memory is a cell, 1 if it lives; the number of a cell is
; 16 * y + x and so fits in a register. The new generation is worked out in a second
; field and then copied. A cell that was born or has died is drawn: that turns it
; over, since drawing is an exclusive or.
;
;   V0       what is loaded and stored
;   V1       the number of a cell
;   V2       the number of a neighbour
;   V3       living neighbours
;   V4, V5   x and y on the screen
;   V6, V7   for working out a number
;   V8       generations that are left
;   VA, VB   masks for x and y
;
; expect: v8 = 0
; expect: ram[0x400] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
; expect: ram[0x41A] = 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
; expect: ram[0x434] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
; expect: ram[0x44E] = 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
; expect: ram[0x468] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0

        .org 0x200

        LD VA, 0x0F
        LD VB, 0x70
        LD V8, 20

; The first generation is drawn.

        LD V1, 0
draw:   LD I, field
        ADD I, V1
        LD V0, [I]
        SE V0, 0
        CALL turn
        ADD V1, 1
        SE V1, 128
        JP draw

; The next generation: living with two or three neighbours, born with three.

generation:
        LD V1, 0
cell:   LD V3, 0
        LD V6, 0xFF             ; x - 1
        LD V7, 0xF0             ; y - 1
        CALL look
        LD V6, 0
        CALL look
        LD V6, 1
        CALL look
        LD V7, 0                ; y
        CALL look
        LD V6, 0xFF
        CALL look
        LD V7, 0x10             ; y + 1
        CALL look
        LD V6, 0
        CALL look
        LD V6, 1
        CALL look

        LD I, field
        ADD I, V1
        LD V0, [I]
        SNE V3, 3
        LD V0, 1                ; three: it lives
        SE V3, 3
        SNE V3, 2
        JP keep                 ; two: it stays what it is
        LD V0, 0
keep:   LD I, fresh
        ADD I, V1
        LD [I], V0
        ADD V1, 1
        SE V1, 128
        JP cell

; Copied, and drawn where something has changed.

        LD V1, 0
copy:   LD I, fresh
        ADD I, V1
        LD V0, [I]
        LD V3, V0
        LD I, field
        ADD I, V1
        LD V0, [I]
        SNE V0, V3
        JP same
        LD I, field
        ADD I, V1
        LD V0, V3
        LD [I], V0
        CALL turn
same:   ADD V1, 1
        SE V1, 128
        JP copy

        ADD V8, -1
        SE V8, 0
        JP generation
        JP $

; look: adds to V3 the neighbour of V1 that is V6 to the right and V7 / 16 down.

look:   LD V2, V1
        ADD V2, V6
        AND V2, VA              ; x stays within its row
        LD V0, V1
        ADD V0, V7
        AND V0, VB
        OR V2, V0
        LD I, field
        ADD I, V2
        LD V0, [I]
        ADD V3, V0
        RET

; turn: turns cell V1 over on the screen.

turn:   LD V4, V1
        AND V4, VA
        SHL V4, V4
        SHL V4, V4
        LD V5, V1
        AND V5, VB
        SHR V5, V5
        SHR V5, V5
        LD I, block
        DRW V4, V5, 4
        RET

block:  db 0b11100000           ; a gap between cells
        db 0b11100000
        db 0b11100000
        db 0b00000000

        .org 0x400
field:  db 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0
        db 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0
        db 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        db 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0
        db 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0
        db 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0
        db 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        db 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

        .org 0x480
fresh:  .space 128
