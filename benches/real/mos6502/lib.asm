; What the programs of this folder share.

; put_hex: writes a as two digits.

put_hex:
        pha
        lsr a
        lsr a
        lsr a
        lsr a
        jsr .digit
        pla
        and #15
.digit: cmp #10
        bcc .small
        adc #'A' - '0' - 11     ; and the carry
.small: adc #'0'
        sta OUT
        rts
