.machine lc3
; A shift register of 16 bits with feedback, in R0. It shifts to the left, which is an addition; there is
; no instruction that shifts to the right, and none for the exclusive or.

        .ORIG x3000
        LD R0, SEED
        LD R1, TAPS
        NOT R2, R1
LOOP    ADD R0, R0, #0
        BRn FEED
        ADD R0, R0, R0
        BRnzp SKIP
FEED    ADD R0, R0, R0
        AND R3, R0, R2
        NOT R3, R3
        NOT R4, R0
        AND R4, R4, R1
        NOT R4, R4
        AND R0, R3, R4
        NOT R0, R0
SKIP    ADD R5, R5, #1
        BRnzp LOOP
SEED    .FILL xACE1
TAPS    .FILL x002D
        .END
