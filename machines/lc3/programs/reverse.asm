.machine lc3
; reverse.asm: reads lines and prints them backwards, until an empty one
;
;   printf 'hello\n\n' | lathe run machines/lc3/programs/reverse.asm
;
; The idea: put the characters one after the other into a buffer, then go back
; from its end. The keyboard does not show what is typed, so nothing is written
; but the answer.
;
;   R1       where the next character goes
;   R2       characters in the buffer
;   R3       minus the end of the line
;
; expect: output
; | dlrow ,olleh
; | 3-CL
; | lanac a ,nalp a ,nam A
; | x

        .ORIG x3000
        LD R3, ENDLINE
LINE    LEA R1, BUFFER
        AND R2, R2, #0
READ    GETC
        ADD R4, R0, R3
        BRz BACK
        STR R0, R1, #0
        ADD R1, R1, #1
        ADD R2, R2, #1
        BRnzp READ

BACK    ADD R2, R2, #0
        BRz DONE                ; an empty line
SHOW    ADD R1, R1, #-1
        LDR R0, R1, #0
        OUT
        ADD R2, R2, #-1
        BRp SHOW
        AND R0, R0, #0
        ADD R0, R0, #10
        OUT
        BRnzp LINE
DONE    HALT

ENDLINE .FILL #-10
BUFFER  .BLKW 200
        .END
