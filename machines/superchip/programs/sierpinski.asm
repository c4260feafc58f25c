.machine superchip
; sierpinski.asm: the triangle of Sierpinski, 128 columns by 64 rows
;
;   lathe run machines/superchip/programs/sierpinski.asm
;
; The idea: a pixel is on where column and row have no bit in common. AND leaves VF alone
; here, unlike on CHIP-8, so the result of the last DRW is still there afterwards.
;
;   V0, V1   column and row
;   V2       what they have in common

        HIGH
        LD I, dot
row:    LD V0, 0
next:   LD V2, V0
        AND V2, V1
        SNE V2, 0
        DRW V0, V1, 1
        ADD V0, 1
        SE V0, 128
        JP next
        ADD V1, 1
        SE V1, 64
        JP row
        EXIT

dot:    db 0b10000000
