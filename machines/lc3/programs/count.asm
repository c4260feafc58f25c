.machine lc3
; count.asm: asks for a character and counts how often a text has it
;
;   echo e | lathe run machines/lc3/programs/count.asm
;
; The idea: the program of chapter 5 of the textbook. IN asks for a character and
; shows it. The text is compared with it, a word at a time, until the word that
; ends the text, x04.
;
;   R0       minus the character
;   R1       a character of the text
;   R2       the count
;   R3       where we are in the text
;
; input: "e\n"
; expect: output
; | Input a character> e
; | That is in the text so often: 8

        .ORIG x3000
        IN
        NOT R0, R0
        ADD R0, R0, #1
        AND R2, R2, #0
        LD R3, FILE
        LDR R1, R3, #0

TEST    ADD R4, R1, #-4         ; the end?
        BRz SHOW
        ADD R4, R1, R0
        BRnp NEXT
        ADD R2, R2, #1
NEXT    ADD R3, R3, #1
        LDR R1, R3, #0
        BRnzp TEST

SHOW    LEA R0, TEXT
        PUTS
        ADD R0, R2, #0
        JSR PRINT
        JSR LINE
        HALT

TEXT    .STRINGZ "\nThat is in the text so often: "
FILE    .FILL x4000

        .include "lib.asm"

        .ORIG x4000
        .STRINGZ "The quick brown fox jumps over the lazy dog. Everybody else sees it."
        .FILL x04
        .END
