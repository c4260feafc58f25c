; lib.asm: what several programs need
;
; A routine is called with JSR and gives all registers back as they were, except
; R7 and those in which it leaves a result.

; PRINT: writes the signed number in R0. Powers of ten are subtracted as often as
; they go; zeros in front are left out.

PRINT   ST R0, PR_R0
        ST R1, PR_R1
        ST R2, PR_R2
        ST R3, PR_R3
        ST R4, PR_R4
        ST R7, PR_R7
        ADD R1, R0, #0          ; R1: what is left of the number
        BRzp PR_ABS
        LD R0, PR_MINUS
        OUT
        NOT R1, R1
        ADD R1, R1, #1
PR_ABS  LEA R2, PR_TENS         ; R2: the power of ten
        AND R4, R4, #0          ; R4: digits written
PR_NEXT LD R0, PR_ZERO          ; R0: the digit
PR_SUB  LDR R3, R2, #0
        ADD R3, R1, R3
        BRn PR_DIG
        ADD R1, R3, #0
        ADD R0, R0, #1
        BRnzp PR_SUB
PR_DIG  ADD R4, R4, #0
        BRp PR_OUT              ; after the first digit, zeros count
        LD R3, PR_ZERO
        NOT R3, R3
        ADD R3, R3, #1
        ADD R3, R0, R3
        BRz PR_SKIP
PR_OUT  OUT
        ADD R4, R4, #1
PR_SKIP ADD R2, R2, #1
        LDR R3, R2, #0
        BRn PR_NEXT
        LD R0, PR_ZERO          ; the last digit is what is left
        ADD R0, R0, R1
        OUT
        LD R0, PR_R0
        LD R1, PR_R1
        LD R2, PR_R2
        LD R3, PR_R3
        LD R4, PR_R4
        LD R7, PR_R7
        RET
PR_R0   .BLKW 1
PR_R1   .BLKW 1
PR_R2   .BLKW 1
PR_R3   .BLKW 1
PR_R4   .BLKW 1
PR_R7   .BLKW 1
PR_ZERO .FILL x30
PR_MINUS .FILL x2D
PR_TENS .FILL #-10000
        .FILL #-1000
        .FILL #-100
        .FILL #-10
        .FILL #0

; LINE: ends the line.

LINE    ST R0, LI_R0
        ST R7, LI_R7
        AND R0, R0, #0
        ADD R0, R0, #10
        OUT
        LD R0, LI_R0
        LD R7, LI_R7
        RET
LI_R0   .BLKW 1
LI_R7   .BLKW 1
