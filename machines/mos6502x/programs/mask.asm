; mask.asm: stores with `sax`
;
;   lathe run machines/mos6502x/programs/mask.asm
;
; The idea: `sax` stores `a & x` and changes no flag and no register: a mask in x takes the
; lower digit out of a byte.
;
; expect: output "0C 0A 0E\n"

.machine mos6502x

        .org $0400
        .entry main

main:   ldx #$0F
        ldy #0
next:   lda bytes,y
        sax $10
        lda $10
        jsr put_hex
        iny
        cpy #3
        beq done
        lda #' '
        jsr putc
        bne next
done:   jsr newline
        kil0

bytes:  .byte $3C, $5A, $7E

        .include "lib.asm"
