.machine lc3
; fibonacci.asm: Fibonacci numbers, by a routine that calls itself twice
;
;   lathe run machines/lc3/programs/fibonacci.asm
;
; The idea: F(n) is F(n - 1) + F(n - 2), and F(0) and F(1) are n itself. A frame on
; the stack has three words: the return address, n, and F(n - 1) while the second
; call is under way.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584\n"

        .ORIG x3000
        LD R6, STACK
        AND R4, R4, #0          ; R4: n
NEXT    ADD R0, R4, #0
        JSR FIB
        ADD R0, R1, #0
        JSR PRINT
        LD R0, SPACE
        ADD R4, R4, #1
        LD R3, LAST
        ADD R3, R4, R3
        BRp DONE
        OUT
        BRnzp NEXT
DONE    JSR LINE
        HALT

STACK   .FILL xFE00
SPACE   .FILL x20
LAST    .FILL #-18

; FIB: R1 = F(R0). R0 is changed.

FIB     ADD R6, R6, #-3
        STR R7, R6, #2
        STR R0, R6, #1
        ADD R1, R0, #-2
        BRn SMALL
        ADD R0, R0, #-1
        JSR FIB
        STR R1, R6, #0
        LDR R0, R6, #1
        ADD R0, R0, #-2
        JSR FIB
        LDR R0, R6, #0
        ADD R1, R1, R0
        BRnzp BACK
SMALL   ADD R1, R0, #0
BACK    LDR R7, R6, #2
        ADD R6, R6, #3
        RET

        .include "lib.asm"
        .END
