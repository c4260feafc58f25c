.machine chip8
; Primes below 256, by crossing out: flags at `flags`. Again and again, as all programs here.

start:  ld i, flags
        ld v0, 0
        ld v1, 0
clear:  ld [i], v0
        add v1, 1
        se v1, 0
        jp clear
        ld v2, 2
outer:  ld i, flags
        add i, v2
        ld v0, [i]
        se v0, 0
        jp next
        ld v3, v2
        ld v0, 1
inner:  add v3, v2              ; `vf` is 1 beyond 255
        se vf, 0
        jp next
        ld i, flags
        add i, v3
        ld [i], v0
        jp inner
next:   add v2, 1
        se v2, 16
        jp outer
        jp start

        .org 0x600
flags:
