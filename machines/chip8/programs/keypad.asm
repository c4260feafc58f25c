.machine chip8
; keypad.asm: shows the keys that are pressed, until it is 0
;
;   lathe run machines/chip8/programs/keypad.asm
;
; The idea: LD V0, K waits until a key is pressed and released, and V0 is its digit.
; Ten digits make a row.
;
;   V0       the key
;   V1, V2   where it goes
;
; keys: DEADBEEF1234567890

        .org 0x200

        LD V1, 2
        LD V2, 2
key:    LD V0, K
        LD F, V0
        DRW V1, V2, 5
        ADD V1, 6
        SNE V1, 62
        CALL row
        SE V0, 0
        JP key
        JP $

row:    LD V1, 2
        ADD V2, 7
        RET
