; Primes below 8192, by crossing out: flags at $4000. Again and again, as all programs here.
.machine mos6502

number  = $10
ptr     = $12
FLAGS   = $4000
END     = FLAGS + 8192

        .org $0400
        .entry start

start:  lda #0
        sta ptr
        tay
        ldx #>FLAGS
        stx ptr+1
        ldx #32
clear:  sta (ptr),y
        iny
        bne clear
        inc ptr+1
        dex
        bne clear
        lda #2
        sta number
outer:  sta ptr
        lda #>FLAGS
        sta ptr+1
        lda (ptr),y             ; y stays 0
        bne next
inner:  clc
        lda ptr
        adc number
        sta ptr
        lda ptr+1
        adc #0
        sta ptr+1
        cmp #>END
        bcs next
        lda #1
        sta (ptr),y
        bne inner
next:   inc number
        lda number
        cmp #91
        bcc outer
        jmp start
