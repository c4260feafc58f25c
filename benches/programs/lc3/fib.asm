.machine lc3
; The Fibonacci numbers by recursion: calls, returns and the stack. FIB takes R0 and returns in R1.

        .ORIG x3000
        LD R6, STACK
START   LD R0, WHICH
        JSR FIB
        BRnzp START

FIB     ADD R2, R0, #-2
        BRn BASE
        ADD R6, R6, #-2
        STR R7, R6, #0
        STR R0, R6, #1
        ADD R0, R0, #-1
        JSR FIB
        LDR R0, R6, #1
        STR R1, R6, #1
        ADD R0, R0, #-2
        JSR FIB
        LDR R2, R6, #1
        ADD R1, R1, R2
        LDR R7, R6, #0
        ADD R6, R6, #2
        RET
BASE    ADD R1, R0, #0
        RET

STACK   .FILL xC000
WHICH   .FILL #18
        .END
