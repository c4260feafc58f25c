.machine superchip
; flags.asm: keeps the best score in the calculator's flags
;
;   lathe run machines/superchip/programs/flags.asm
;
; The idea: LD R, V1 puts V0 and V1 into two flags of the calculator, which outlast the
; program, and LD V1, R takes them back. Three games are played; the better score is kept.
;
;   V0       the best score
;   V1       how many games there were
;   V4       the score of a game
;
; expect: v0 = 77
; expect: v1 = 3
; expect: v2 = 5
; expect: rpl[0] = 77
; expect: rpl[1] = 3
; expect: rpl[2] = 0

        LD V4, 30
        CALL played
        LD V4, 77
        CALL played
        LD V4, 51
        CALL played
        LD V2, 5                ; V2 is not taken back
        LD V1, R
        EXIT

; A game has ended with V4.

played: LD V1, R
        ADD V1, 1
        LD V5, V4
        SUB V5, V0
        SE VF, 0                ; at least as many as the best
        LD V0, V4
        LD R, V1
        RET
