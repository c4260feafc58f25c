; The CRC of the 256 bytes at $C000.
.machine sm83

        .org $0150
        .entry start

start:  ld a, $FF
        ld hl, $C000
byte:   xor [hl]
        ld b, 8
bit:    add a, a
        jr nc, skip
        xor 7
skip:   dec b
        jr nz, bit
        inc l
        jr byte
