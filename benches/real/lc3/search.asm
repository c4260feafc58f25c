.machine lc3
; search.asm: six queens on a board of six times six, so that none attacks another
;
;   lathe run benches/real/lc3/search.asm -D ROUNDS=10
;
; PLACE puts a queen into each column of its row where it is safe, and calls itself
; for the next row; with the last row a solution is found, and its columns go into
; the checksum. All places that were tried go there as well.
;
;   R0   the row              R5   places tried
;   R1   the column           R6   the stack

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

QUEENS  = 6

        .ORIG x3000
        LD R6, STACK
        LD R0, TIMES
        ST R0, LEFT
ROUND   AND R5, R5, #0
        AND R0, R0, #0
        JSR PLACE
        ADD R0, R5, #0
        JSR MIX
        LD R0, LEFT
        ADD R0, R0, #-1
        ST R0, LEFT
        BRnp ROUND
        JSR SHOW
        HALT

TIMES   .FILL ROUNDS
LEFT    .FILL #0
SUM     .FILL #0
STACK   .FILL xF000

; PLACE: tries all columns of row R0, then all of the next row, and so on.

PLACE   ADD R6, R6, #-2
        STR R7, R6, #0
        AND R1, R1, #0
P_NEXT  ADD R5, R5, #1
        JSR SAFE
        BRz P_TAKEN
        LEA R2, COLUMNS
        ADD R2, R2, R0
        STR R1, R2, #0
        ADD R2, R0, -QUEENS + 1
        BRz P_FOUND
        STR R1, R6, #1
        ADD R0, R0, #1
        JSR PLACE
        ADD R0, R0, #-1
        LDR R1, R6, #1
        BRnzp P_TAKEN
P_FOUND JSR RECORD
P_TAKEN ADD R1, R1, #1
        ADD R2, R1, -QUEENS
        BRn P_NEXT
        LDR R7, R6, #0
        ADD R6, R6, #2
        RET

; SAFE: whether no queen of the rows before R0 attacks column R1. Comes back with 0
; (z) if one does.
;
;   R2   the queen that is looked at, from the last row upwards
;   R3   rows from there to here

SAFE    LEA R2, COLUMNS
        ADD R2, R2, R0
        AND R3, R3, #0
S_NEXT  ADD R3, R3, #1
        ADD R2, R2, #-1
        NOT R4, R0
        ADD R4, R4, R3
        BRzp S_SAFE             ; no more rows
        LDR R4, R2, #0
        NOT R4, R4
        ADD R4, R4, #1
        ADD R4, R4, R1          ; columns between them
        BRz S_HIT
        BRp S_RIGHT
        NOT R4, R4
        ADD R4, R4, #1
S_RIGHT NOT R4, R4
        ADD R4, R4, #1
        ADD R4, R4, R3
        BRnp S_NEXT
S_HIT   AND R2, R2, #0
        RET
S_SAFE  AND R2, R2, #0
        ADD R2, R2, #1
        RET

; RECORD: mixes the columns of all queens into the checksum. Keeps R0 and R1.

RECORD  ST R7, R_R7
        ST R0, R_R0
        ST R1, R_R1
        LEA R1, COLUMNS
        AND R2, R2, #0
        ADD R2, R2, QUEENS
R_NEXT  LDR R0, R1, #0
        JSR MIX
        ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp R_NEXT
        LD R7, R_R7
        LD R0, R_R0
        LD R1, R_R1
        RET
R_R7    .FILL #0
R_R0    .FILL #0
R_R1    .FILL #0

        .include "lib.asm"

COLUMNS .BLKW QUEENS
        .END
