; divide.asm: divides by three with `sbx`
;
;   lathe run machines/mos6502x/programs/divide.asm
;
; The idea: `sbx` takes a number from `a & x` without a borrow and leaves the carry as
; a comparison does. With a = $FF it is a subtraction from x.
;
; expect: output "100 / 3 = 33 rest 1\n"

.machine mos6502x

        .org $0400
        .entry main

main:   ldx #100
        ldy #0
        lda #$FF
next:   sbx #3
        bcc done
        iny
        bne next
done:   txa                     ; three below the rest
        clc
        adc #3
        sta $11
        sty $10
        ldx #0
.text:  lda text,x
        beq .number
        jsr putc
        inx
        bne .text
.number:
        lda $10
        jsr put_dec
        ldx #0
.rest:  lda rest,x
        beq .last
        jsr putc
        inx
        bne .rest
.last:  lda $11
        jsr put_dec
        jsr newline
        kil0

text:   .byte "100 / 3 = ", 0
rest:   .byte " rest ", 0

        .include "lib.asm"
