; What the programs of this folder share.

; MIX: turns the checksum by one bit to the left and adds R0.

MIX     LD R3, SUM
        BRn M_CARRY
        ADD R3, R3, R3
        BRnzp M_ADD
M_CARRY ADD R3, R3, R3
        ADD R3, R3, #1
M_ADD   ADD R3, R3, R0
        ST R3, SUM
        RET

; SHOW: writes the checksum as four digits, and ends the line.

SHOW    ST R7, W_R7
        LD R1, SUM
        AND R2, R2, #0
        ADD R2, R2, #4
W_DIGIT AND R0, R0, #0
        AND R3, R3, #0
        ADD R3, R3, #4
W_BIT   ADD R0, R0, R0
        ADD R1, R1, #0
        BRzp W_CLEAR
        ADD R0, R0, #1
W_CLEAR ADD R1, R1, R1
        ADD R3, R3, #-1
        BRp W_BIT
        LEA R4, DIGITS
        ADD R4, R4, R0
        LDR R0, R4, #0
        OUT
        ADD R2, R2, #-1
        BRp W_DIGIT
        AND R0, R0, #0
        ADD R0, R0, #10
        OUT
        LD R7, W_R7
        RET
W_R7    .FILL #0
DIGITS  .STRINGZ "0123456789ABCDEF"
