.machine superchip
; rows.asm: counts the rows in which sprites meet
;
;   lathe run machines/superchip/programs/rows.asm
;
; The idea: on the large screen VF is not 0 or 1 but the number of rows in which a pixel
; went off, and rows below the screen count too. A bar of eight rows is drawn, and then
; once more, a few rows lower each time.
;
;   V0, V1   where the bar goes
;   V2 … V6  what VF was
;
; expect: v2 = 0
; expect: v3 = 6
; expect: v4 = 2
; expect: v5 = 3
; expect: v6 = 1

        HIGH
        LD V0, 60
        LD V1, 10
        LD I, bar
        DRW V0, V1, 8
        LD V2, VF               ; nothing was there
        LD V1, 12
        DRW V0, V1, 8           ; rows 12 to 17 were on: now they are off
        LD V3, VF
        LD V1, 14
        DRW V0, V1, 8           ; 18 and 19 were on
        LD V4, VF
        LD V1, 59
        DRW V0, V1, 8           ; three rows too low
        LD V5, VF
        LOW                     ; large pixels: 0 or 1
        LD V0, 30
        LD V1, 5
        DRW V0, V1, 8
        LD V6, VF
        EXIT

bar:    db 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0
