; parity.asm: tells the parity of bytes
;
;   lathe run machines/mos6502x/programs/parity.asm
;
; The idea: `alr` is `and` and `lsr`: with $FF it shifts a to the right, and with a mask it
; takes a bit out at the same time. Each bit that falls into the carry turns x.
;
; expect: output "odd\neven\n"

.machine mos6502x

        .org $0400
        .entry main

main:   lda #$07
        jsr tell
        lda #$81
        jsr tell
        kil0

tell:   ldx #0
.bit:   alr #$FF
        bcc .none
        inx
.none:  cmp #0
        bne .bit
        txa
        ldy #0
        alr #1                  ; the lowest bit of the count
        bcs .write
        ldy #even - odd
.write: lda odd,y
        beq .done
        jsr putc
        iny
        bne .write
.done:  rts

odd:    .byte "odd\n", 0
even:   .byte "even\n", 0

        .include "lib.asm"
