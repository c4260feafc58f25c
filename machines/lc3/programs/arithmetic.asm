.machine lc3
; arithmetic.asm: multiplies and divides
;
;   lathe run machines/lc3/programs/arithmetic.asm
;
; The idea: the LC-3 can add, and nothing more. To multiply, look at the bits of
; one number from the lowest up: for each 1, add the other number, which doubles
; at every bit. To divide, go down from the highest bit as on paper: shift it into
; the remainder, and subtract the divisor whenever it fits.
;
;   R4       where we are in the table of pairs

        .ORIG x3000
        LEA R4, PAIRS
NEXT    LDR R0, R4, #0
        LDR R1, R4, #1
        BRz DONE                ; a second number of 0 ends the table

        JSR PRINT
        LEA R0, TIMES
        PUTS
        ADD R0, R1, #0
        JSR PRINT
        LEA R0, EQUALS
        PUTS
        LDR R0, R4, #0
        JSR MUL
        ADD R0, R2, #0
        JSR PRINT
        LEA R0, COMMA
        PUTS

        LDR R0, R4, #0
        JSR PRINT
        LEA R0, OVER
        PUTS
        ADD R0, R1, #0
        JSR PRINT
        LEA R0, EQUALS
        PUTS
        LDR R0, R4, #0
        JSR DIV
        ADD R0, R2, #0
        JSR PRINT
        LEA R0, REST
        PUTS
        ADD R0, R3, #0
        JSR PRINT
        JSR LINE
        ADD R4, R4, #2
        BRnzp NEXT
DONE    HALT

TIMES   .STRINGZ " * "
OVER    .STRINGZ " / "
EQUALS  .STRINGZ " = "
COMMA   .STRINGZ ", "
REST    .STRINGZ " rest "

PAIRS   .FILL #12
        .FILL #11
        .FILL #-7
        .FILL #6
        .FILL #100
        .FILL #-9
        .FILL #-125
        .FILL #-25
        .FILL #32767
        .FILL #1
        .FILL #-32767
        .FILL #1
        .FILL #0
        .FILL #5
        .FILL #1
        .FILL #20000
        .FILL #3
        .FILL #-10922
        .FILL #0
        .FILL #0

; MUL: R2 = R0 * R1, the low 16 bits; with signs it comes out right by itself.
;
;   R3       the bit, a 1 that doubles
;   R5       R0, which doubles too

MUL     ST R3, MU_R3
        ST R4, MU_R4
        ST R5, MU_R5
        AND R2, R2, #0
        ADD R5, R0, #0
        AND R3, R3, #0
        ADD R3, R3, #1
MU_BIT  AND R4, R1, R3
        BRz MU_ZERO
        ADD R2, R2, R5
MU_ZERO ADD R5, R5, R5
        ADD R3, R3, R3
        BRnp MU_BIT             ; after sixteen bits the 1 has gone
        LD R3, MU_R3
        LD R4, MU_R4
        LD R5, MU_R5
        RET
MU_R3   .BLKW 1
MU_R4   .BLKW 1
MU_R5   .BLKW 1

; DIV: R2 = R0 / R1 towards zero, R3 = the remainder, with the sign of R0. R1 is not 0.
;
;   R0       the dividend without its sign, whose bits leave at the top
;   R5       minus the divisor without its sign
;   R4       bits that are left

DIV     ST R0, DI_R0
        ST R1, DI_R1
        ST R4, DI_R4
        ST R5, DI_R5
        ST R6, DI_R6
        ADD R0, R0, #0
        BRzp DI_POS
        NOT R0, R0
        ADD R0, R0, #1
DI_POS  ADD R5, R1, #0
        BRn DI_NEG              ; it is negative already
        NOT R5, R5
        ADD R5, R5, #1
DI_NEG  AND R2, R2, #0
        AND R3, R3, #0
        AND R4, R4, #0
        ADD R4, R4, #15
        ADD R4, R4, #1
DI_BIT  ADD R2, R2, R2
        ADD R3, R3, R3
        ADD R0, R0, #0
        BRzp DI_ZERO
        ADD R3, R3, #1
DI_ZERO ADD R0, R0, R0
        ADD R3, R3, #0
        BRn DI_FITS             ; above 32767: larger than any divisor
        ADD R6, R3, R5
        BRn DI_LESS
DI_FITS ADD R3, R3, R5
        ADD R2, R2, #1
DI_LESS ADD R4, R4, #-1
        BRp DI_BIT

        LD R0, DI_R0            ; now the signs
        BRzp DI_SIGN
        NOT R3, R3
        ADD R3, R3, #1
        NOT R2, R2
        ADD R2, R2, #1
DI_SIGN LD R1, DI_R1
        BRzp DI_END
        NOT R2, R2
        ADD R2, R2, #1
DI_END  LD R4, DI_R4
        LD R5, DI_R5
        LD R6, DI_R6
        RET
DI_R0   .BLKW 1
DI_R1   .BLKW 1
DI_R4   .BLKW 1
DI_R5   .BLKW 1
DI_R6   .BLKW 1

        .include "lib.asm"
        .END
