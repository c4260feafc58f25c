.machine lc3
; The CRC of the 256 bytes in the upper halves of the words at x4000.

        .ORIG x3000
        LD R0, ONES
START   LD R2, DATA
        LD R3, COUNT
BYTE    LDR R1, R2, #0
        JSR XOR
        AND R4, R4, #0
        ADD R4, R4, #8
BIT     ADD R0, R0, #0
        BRzp CLEAR
        ADD R0, R0, R0
        LD R1, POLY
        JSR XOR
        BRnzp NEXT
CLEAR   ADD R0, R0, R0
NEXT    ADD R4, R4, #-1
        BRp BIT
        ADD R2, R2, #1
        ADD R3, R3, #-1
        BRp BYTE
        BRnzp START

; XOR: R0 = R0 xor R1.

XOR     NOT R5, R1
        AND R5, R5, R0
        NOT R5, R5
        NOT R6, R0
        AND R6, R6, R1
        NOT R6, R6
        AND R0, R5, R6
        NOT R0, R0
        RET

ONES    .FILL xFF00
POLY    .FILL x0700
DATA    .FILL x4000
COUNT   .FILL #256
        .END
