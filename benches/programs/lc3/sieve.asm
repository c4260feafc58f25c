.machine lc3
; Primes below 8192, by crossing out: flags at x4000. Again and again, as all programs here.

        .ORIG x3000
START   LD R0, FLAGS
        LD R1, END
        AND R2, R2, #0
CLEAR   STR R2, R0, #0
        ADD R0, R0, #1
        ADD R3, R0, R1
        BRn CLEAR
        ADD R2, R2, #1
        AND R4, R4, #0
        ADD R4, R4, #2
OUTER   LD R0, FLAGS
        ADD R0, R0, R4
        LDR R3, R0, #0
        BRp NEXT
INNER   ADD R0, R0, R4
        ADD R3, R0, R1
        BRzp NEXT
        STR R2, R0, #0
        BRnzp INNER
NEXT    ADD R4, R4, #1
        LD R3, LIMIT
        ADD R3, R3, R4
        BRn OUTER
        BRnzp START
FLAGS   .FILL x4000
END     .FILL xA000             ; minus x6000
LIMIT   .FILL #-91
        .END
