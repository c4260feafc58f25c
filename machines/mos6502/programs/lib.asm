; lib.asm: a small library for mos6502
;
; Include it at the end of a program:
;
;         .include "lib.asm"
;
; Numbers are handed over in the zero page, where the library owns $F0 to $FF.
; Bytes of a number lie with the lowest first. Every routine may change a, x and
; y, unless it says otherwise.
;
;   putc        writes the character in a
;   puts        writes the text at a (low byte) and y (high byte)
;   print       writes the text that follows the call
;   newline     ends the line
;   put_dec     writes a as a decimal number
;   put_dec16   writes the 16 bits at `number` as a decimal number
;   put_dec32   writes the 32 bits at `number` as a decimal number
;   put_hex     writes a as two hexadecimal digits
;   mul16       number (32 bits) = first * second
;   div16       first = first / second, rest = first % second

OUT     = $F001                 ; the terminal
IN      = $F004

text    = $F0                   ; 2 bytes
number  = $F2                   ; 4 bytes
first   = $F6                   ; 2 bytes
second  = $F8                   ; 2 bytes
rest    = $FA                   ; 2 bytes

; putc: writes the character in a. Changes nothing.

putc:   sta OUT
        rts

; puts: writes the text at a and y, up to its zero byte: at most 255 characters.

puts:   sta text
        sty text+1
        ldy #0
.next:  lda (text),y
        beq .done
        sta OUT
        iny
        bne .next
.done:  rts

; print: writes the text that stands in the program right after the call. The
; return address on the stack is that of the last byte of the `jsr`. Keeps x.

print:  pla
        sta text
        pla
        sta text+1
        ldy #0
.next:  inc text
        bne .same
        inc text+1
.same:  lda (text),y
        beq .done
        sta OUT
        bne .next
.done:  lda text+1              ; back to the byte after the zero
        pha
        lda text
        pha
        rts

; newline: ends the line. Keeps x and y.

newline:
        lda #'\n'
        sta OUT
        rts

; put_hex: writes a as two hexadecimal digits. Keeps x and y.

put_hex:
        pha
        lsr a
        lsr a
        lsr a
        lsr a
        jsr .digit
        pla
        and #$0F
.digit: ora #'0'
        cmp #'9'+1
        bcc .small
        adc #'A'-'9'-2          ; the carry is the one that is missing
.small: sta OUT
        rts

; put_dec, put_dec16: what is missing is filled up with zeros.

put_dec:
        sta number
        lda #0
        sta number+1
put_dec16:
        lda #0
        sta number+2
        sta number+3

; put_dec32: writes the 32 bits at `number`, and leaves 0 there. The last digit
; comes out first, so all of them wait on the stack; y counts them.

put_dec32:
        ldy #0
.digit: ldx #32                 ; divide by ten: bits leave the number at its
        lda #0                  ; top and go into the remainder in a, and bits
.bit:   asl number              ; of the quotient come in at the bottom
        rol number+1
        rol number+2
        rol number+3
        rol a
        cmp #10
        bcc .less
        sbc #10
        inc number
.less:  dex
        bne .bit
        pha
        iny
        lda number
        ora number+1
        ora number+2
        ora number+3
        bne .digit
.write: pla
        ora #'0'
        sta OUT
        dey
        bne .write
        rts

; mul16: number = first * second, 32 bits. Clears `first`; keeps y.

mul16:  lda #0
        sta number+2
        sta number+3
        ldx #16
.bit:   lsr first+1
        ror first
        bcc .zero               ; without a carry to shift in, too
        clc
        lda number+2
        adc second
        sta number+2
        lda number+3
        adc second+1
        sta number+3
.zero:  ror number+3
        ror number+2
        ror number+1
        ror number
        dex
        bne .bit
        rts

; div16: first = first / second, and the remainder in `rest`. Keeps y.

div16:  lda #0
        sta rest
        sta rest+1
        ldx #16
.bit:   asl first               ; a bit goes from `first` into the remainder
        rol first+1
        rol rest
        rol rest+1
        bcs .fits               ; 17 bits: certainly more than `second`
        lda rest
        cmp second
        lda rest+1
        sbc second+1
        bcc .less
.fits:  lda rest                ; the carry is set on both ways to here
        sbc second
        sta rest
        lda rest+1
        sbc second+1
        sta rest+1
        inc first               ; a bit of the quotient
.less:  dex
        bne .bit
        rts
