.machine chip8
; A shift register of 16 bits with feedback, in v0 and v1. It shifts to the right.

        ld v0, 0xAC
        ld v1, 0xE1
        ld v2, 0xB4             ; taps
        ld v4, 0x80
loop:   shr v0
        ld v3, vf               ; goes into the low half
        shr v1
        ld v5, vf               ; falls out
        se v3, 0
        or v1, v4
        se v5, 0
        xor v0, v2
        add v6, 1
        jp loop
