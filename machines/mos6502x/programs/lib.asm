; lib.asm: a small library for mos6502x
;
; Include it at the end of a program. Every routine says which registers it changes.
;
;   putc      writes the character in a
;   newline   ends the line
;   put_dec   writes a as a decimal number
;   put_hex   writes a as two hexadecimal digits

terminal = $F001

; putc: writes the character in a. Changes nothing.

putc:   sta terminal
        rts

; newline: ends the line. Changes a.

newline:
        lda #'\n'
        bne putc

; put_hex: writes a as two hexadecimal digits. Changes a.

put_hex:
        pha
        lsr a
        lsr a
        lsr a
        lsr a
        jsr .digit
        pla
        and #$0F
.digit: cmp #10
        bcc .small
        adc #'A' - '0' - 11
.small: adc #'0'
        bne putc

; put_dec: writes a as a decimal number. Changes a, x, y.

put_dec:
        ldx #0                  ; how many digits wait on the stack
.digit: ldy #0
.ten:   cmp #10
        bcc .rest
        sbc #10
        iny
        bne .ten
.rest:  pha
        inx
        tya
        bne .digit
.write: pla
        clc
        adc #'0'
        jsr putc
        dex
        bne .write
        rts
