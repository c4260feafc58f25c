.machine superchip
; halves.asm: pixels of two sizes on one screen
;
;   lathe run machines/superchip/programs/halves.asm
;
; The idea: on the old screen, where programs begin, a pixel is two by two of the large
; screen, but SCD moves by small ones. Changing from one to the other leaves the screen as
; it is. So a digit moves by half of its pixels, and a small one is drawn beside it. A
; sprite without a height has 16 rows of eight pixels on the old screen.
;
;   V0       a digit
;   V1, V2   places
;   V3       collisions: a small pixel inside a large one
;
; expect: v3 = 1

        LD V0, 5
        LD V1, 10
        LD V2, 4
        LD F, V0
        DRW V1, V2, 5           ; large pixels
        SCD 1                   ; half of one
        LD V1, 40
        DRW V1, V2, 5           ; beside it, not moved
        LD I, stripes
        LD V1, 52
        DRW V1, V2, 0
        HIGH
        LD F, V0
        LD V1, 20
        LD V2, 40
        DRW V1, V2, 5           ; small pixels
        LD V2, 9                ; inside of the first, one row down
        DRW V1, V2, 1
        LD V3, VF
        EXIT

stripes: db 0b10000001, 0b01000010, 0b00100100, 0b00011000
        db 0b10000001, 0b01000010, 0b00100100, 0b00011000
        db 0b10000001, 0b01000010, 0b00100100, 0b00011000
        db 0b10000001, 0b01000010, 0b00100100, 0b00011000
