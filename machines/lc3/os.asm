; The trap routines of the LC-3, and the table that leads to them. The words of this program stand in
; lc3.isa, so that every machine has them at reset.
.machine lc3

        .ORIG x0020
        .FILL GETC_
        .FILL OUT_
        .FILL PUTS_
        .FILL IN_
        .FILL PUTSP_
        .FILL HALT_

        .ORIG x0200
KBSR    .FILL xFE00
KBDR    .FILL xFE02
DSR     .FILL xFE04
DDR     .FILL xFE06
MCR     .FILL xFFFE
CLEAR   .FILL x7FFF
KEEP0   .BLKW 1
KEEP1   .BLKW 1
KEEP2   .BLKW 1
KEEP7   .BLKW 1
BYTE    .FILL x00FF
PROMPT  .STRINGZ "Input a character> "

; A character from the keyboard into R0.
GETC_   LDI R0, KBSR
        BRzp GETC_
        LDI R0, KBDR
        RET

; The character in R0 to the display.
OUT_    ST R1, KEEP1
WAIT    LDI R1, DSR
        BRzp WAIT
        STI R0, DDR
        LD R1, KEEP1
        RET

; The text at R0, one character a word.
PUTS_   ST R7, KEEP7
        ST R0, KEEP0
        ST R2, KEEP2
        ADD R2, R0, #0
NEXT    LDR R0, R2, #0
        BRz DONE
        JSR OUT_
        ADD R2, R2, #1
        BRnzp NEXT
DONE    LD R2, KEEP2
        LD R0, KEEP0
        LD R7, KEEP7
        RET

; A prompt, then a character into R0, which is shown.
IN_     ST R7, KEEP7A
        LEA R0, PROMPT
        JSR PUTS_
        JSR GETC_
        JSR OUT_
        LD R7, KEEP7A
        RET
KEEP7A  .BLKW 1

; The text at R0, two characters a word, the lower one first.
PUTSP_  ST R7, KEEP7A
        ST R0, KEEP0A
        ST R2, KEEP2A
        ST R3, KEEP3A
        ST R4, KEEP4A
        ADD R2, R0, #0
PAIR    LDR R3, R2, #0
        LD R0, BYTE
        AND R0, R3, R0
        BRz ENDP
        JSR OUT_
        AND R0, R0, #0
        AND R4, R4, #0
        ADD R4, R4, #8
; The upper half, bit by bit.
SHIFT   ADD R0, R0, R0
        ADD R3, R3, #0
        BRzp CLEARB
        ADD R0, R0, #1
CLEARB  ADD R3, R3, R3
        ADD R4, R4, #-1
        BRp SHIFT
        ADD R0, R0, #0
        BRz ENDP
        JSR OUT_
        ADD R2, R2, #1
        BRnzp PAIR
ENDP    LD R4, KEEP4A
        LD R3, KEEP3A
        LD R2, KEEP2A
        LD R0, KEEP0A
        LD R7, KEEP7A
        RET
KEEP0A  .BLKW 1
KEEP2A  .BLKW 1
KEEP3A  .BLKW 1
KEEP4A  .BLKW 1

; Stops the clock.
HALT_   LDI R0, MCR
        LD R1, CLEAR
        AND R0, R0, R1
        STI R0, MCR
        BRnzp HALT_
        .END
