; A shift register of 16 bits with feedback, in hl.
.machine sm83

        .org $0150
        .entry start

start:  ld hl, $ACE1
loop:   srl h
        rr l
        jr nc, skip
        ld a, h
        xor $B4
        ld h, a
skip:   inc b
        jr loop
