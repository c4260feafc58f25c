; A shift register of 16 bits with feedback, in two cells of the zero page.
.machine mos6502

low     = $10
high    = $11
count   = $12

        .org $0400
        .entry start

start:  lda #$E1
        sta low
        lda #$AC
        sta high
loop:   lsr high
        ror low
        bcc skip
        lda high
        eor #$B4
        sta high
skip:   inc count
        jmp loop
