; Primes below 8192, by crossing out: flags at $C000. Again and again, as all programs here.
.machine sm83

FLAGS   = $C000
END     = FLAGS + 8192

        .org $0150
        .entry start

start:  ld hl, FLAGS
clear:  xor a
        ld [hl+], a
        ld a, h
        cp >END
        jr nz, clear
        ld bc, 2
outer:  ld hl, FLAGS
        add hl, bc
        ld a, [hl]
        or a
        jr nz, next
inner:  add hl, bc
        ld a, h
        cp >END
        jr nc, next
        ld [hl], 1
        jr inner
next:   inc c
        ld a, c
        cp 91
        jr c, outer
        jp start
