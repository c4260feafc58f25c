.machine lc3
; sort.asm: sorts numbers and puts them into a hash table
;
;   lathe run benches/real/lc3/sort.asm -D ROUNDS=10
;
; Each round fills an array with random numbers below 16384, sorts it with Shell
; sort, then puts the numbers into a hash table, in which the lower seven bits say
; where to begin. The sorted numbers and the number of probes go into the checksum.

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

COUNT   = 64
SLOTS   = 128

        .ORIG x3000
        LD R0, TIMES
        ST R0, LEFT
ROUND   JSR FILL
        JSR SORT
        JSR SUMUP
        JSR TABLE
        LD R0, LEFT
        ADD R0, R0, #-1
        ST R0, LEFT
        BRnp ROUND
        JSR SHOW
        HALT

TIMES   .FILL ROUNDS
LEFT    .FILL #0
SUM     .FILL #0
RANDOM  .FILL #0
ARRAYAT .FILL ARRAY
TABLEAT .FILL SPACE
NUMBER  .FILL COUNT
MASK14  .FILL x3FFF
STEP    .FILL x3619

; FILL: random numbers into the array: x = 5x + x3619.

FILL    LD R1, ARRAYAT
        LD R2, NUMBER
        LD R3, RANDOM
        LD R4, STEP
        LD R6, MASK14
F_NEXT  ADD R0, R3, R3
        ADD R0, R0, R0
        ADD R3, R3, R0
        ADD R3, R3, R4
        AND R0, R3, R6
        STR R0, R1, #0
        ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp F_NEXT
        ST R3, RANDOM
        RET

; SORT: Shell sort with gaps of 13, 4 and 1.
;
;   R1   the place that a number comes from     R4   the number
;   R2   where we compare                       R5   - the gap
;   R3   the first place that has one before it

SORT    ST R7, S_R7
        LEA R0, GAPS
        ST R0, S_GAP
S_TURN  LD R0, S_GAP
        LDR R5, R0, #0
        BRz S_DONE
        ADD R0, R0, #1
        ST R0, S_GAP
        NOT R1, R5
        ADD R1, R1, #1          ; the gap
        LD R0, ARRAYAT
        ADD R1, R1, R0
        ADD R3, R1, #0
S_NEXT  LDR R4, R1, #0
        ADD R2, R1, #0
S_MOVE  NOT R0, R3
        ADD R0, R0, #1
        ADD R0, R2, R0
        BRn S_PLACE             ; nothing is before it
        ADD R6, R2, R5
        LDR R0, R6, #0
        NOT R7, R4
        ADD R7, R7, #1
        ADD R7, R0, R7
        BRnz S_PLACE
        STR R0, R2, #0
        ADD R2, R6, #0
        BRnzp S_MOVE
S_PLACE STR R4, R2, #0
        ADD R1, R1, #1
        LD R0, ENDING           ; - behind the array
        ADD R0, R1, R0
        BRn S_NEXT
        BRnzp S_TURN
S_DONE  LD R7, S_R7
        RET
S_R7    .FILL #0
S_GAP   .FILL #0
ENDING  .FILL -(ARRAY + COUNT)
GAPS    .FILL #-13
        .FILL #-4
        .FILL #-1
        .FILL #0

; SUMUP: mixes the array into the checksum.

SUMUP   ST R7, U_R7
        LD R1, ARRAYAT
        LD R2, NUMBER
U_NEXT  LDR R0, R1, #0
        JSR MIX
        ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp U_NEXT
        LD R7, U_R7
        RET
U_R7    .FILL #0

; TABLE: clears the hash table, puts all numbers into it (a number that is there
; already is found), and mixes the number of probes into the checksum.
;
;   R1   the array             R5   the slots
;   R2   numbers left          R6   probes

TABLE   ST R7, T_R7
        LD R5, TABLEAT
        LD R2, T_SIZE
        AND R0, R0, #0
        ADD R1, R5, #0
T_CLEAR STR R0, R1, #0
        ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp T_CLEAR
        LD R1, ARRAYAT
        LD R2, NUMBER
        AND R6, R6, #0
T_NEXT  LDR R0, R1, #0
        ADD R3, R0, #0
T_PROBE ADD R6, R6, #1
        LD R4, T_MASK
        AND R3, R3, R4
        ADD R7, R5, R3
        LDR R4, R7, #0
        BRz T_PUT
        NOT R4, R4
        ADD R4, R4, #1
        ADD R4, R4, R0
        BRz T_FOUND
        ADD R3, R3, #1
        BRnzp T_PROBE
T_PUT   STR R0, R7, #0
T_FOUND ADD R1, R1, #1
        ADD R2, R2, #-1
        BRp T_NEXT
        ADD R0, R6, #0
        JSR MIX
        LD R7, T_R7
        RET
T_R7    .FILL #0
T_SIZE  .FILL SLOTS
T_MASK  .FILL #127

        .include "lib.asm"

ARRAY   .BLKW COUNT
SPACE   .BLKW SLOTS
        .END
