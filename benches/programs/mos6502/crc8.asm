; The CRC of the 256 bytes at $2000.
.machine mos6502

        .org $0400
        .entry start

start:  lda #$FF
        ldx #0
byte:   eor $2000,x
        ldy #8
bit:    asl a
        bcc skip
        eor #7
skip:   dey
        bne bit
        inx
        jmp byte
