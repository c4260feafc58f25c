.machine lc3
; factorial.asm: factorials, by a routine that calls itself
;
;   lathe run machines/lc3/programs/factorial.asm
;
; The idea: n! is n * (n - 1)!, and 0! is 1. A routine that calls itself must keep
; its return address and its n where the next call does not find them: on a
; stack, to which R6 points. It grows down.
;
; expect: output
; | 0! = 1
; | 1! = 1
; | 2! = 2
; | 3! = 6
; | 4! = 24
; | 5! = 120
; | 6! = 720
; | 7! = 5040

        .ORIG x3000
        LD R6, STACK
        AND R4, R4, #0          ; R4: n
NEXT    ADD R0, R4, #0
        JSR PRINT
        LEA R0, TEXT
        PUTS
        ADD R0, R4, #0
        JSR FACT
        ADD R0, R1, #0
        JSR PRINT
        JSR LINE
        ADD R4, R4, #1
        ADD R0, R4, #-8         ; 8! does not fit in 15 bits
        BRn NEXT
        HALT

STACK   .FILL xFE00
TEXT    .STRINGZ "! = "

; FACT: R1 = R0!. R0 is changed.

FACT    ADD R6, R6, #-2         ; push R7 and R0
        STR R7, R6, #1
        STR R0, R6, #0
        ADD R0, R0, #-1
        BRn ONE
        JSR FACT
        LDR R0, R6, #0
        JSR TIMES
        BRnzp BACK
ONE     AND R1, R1, #0
        ADD R1, R1, #1
BACK    LDR R7, R6, #1
        ADD R6, R6, #2
        RET

; TIMES: R1 = R1 * R0, by adding R1 as often as R0 says. R0 is at least 1; R0 and R2
; are changed.

TIMES   AND R2, R2, #0
TI_ADD  ADD R2, R2, R1
        ADD R0, R0, #-1
        BRp TI_ADD
        ADD R1, R2, #0
        RET

        .include "lib.asm"
        .END
