.machine lc3
; bubble.asm: sorts numbers with bubble sort and prints them before and after
;
;   lathe run machines/lc3/programs/bubble.asm
;
; The idea: go through the row and swap neighbours that stand the wrong way round.
; After the first turn the largest is at its place, so each turn is one shorter
; than the last. Numbers are compared by subtracting them; two that are more than
; 32767 apart would be compared wrong.
;
;   R1       where we are
;   R2       pairs left in this turn
;   R3, R4   the two neighbours
;   R6       pairs in a turn

        .ORIG x3000
        LEA R0, BEFORE
        PUTS
        JSR SHOW

        LD R6, COUNT
TURN    ADD R6, R6, #-1
        BRnz SORTED
        ADD R2, R6, #0
        LEA R1, NUMBERS
PAIR    LDR R3, R1, #0
        LDR R4, R1, #1
        NOT R5, R4
        ADD R5, R5, #1
        ADD R5, R3, R5          ; first - second
        BRnz KEEP
        STR R4, R1, #0
        STR R3, R1, #1
KEEP    ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp PAIR
        BRnzp TURN

SORTED  LEA R0, AFTER
        PUTS
        JSR SHOW
        HALT

BEFORE  .STRINGZ "before:"
AFTER   .STRINGZ "after: "

; SHOW: prints the numbers, a space before each, and ends the line.

SHOW    ST R7, SH_R7
        LEA R1, NUMBERS
        LD R2, COUNT
SH_NEXT LD R0, SPACE
        OUT
        LDR R0, R1, #0
        JSR PRINT
        ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp SH_NEXT
        JSR LINE
        LD R7, SH_R7
        RET
SH_R7   .BLKW 1
SPACE   .FILL x20

COUNT   .FILL #14
NUMBERS .FILL #31
        .FILL #-5
        .FILL #1024
        .FILL #0
        .FILL #77
        .FILL #-12000
        .FILL #8
        .FILL #31
        .FILL #-1
        .FILL #9999
        .FILL #2
        .FILL #16383
        .FILL #-300
        .FILL #15

        .include "lib.asm"
        .END
