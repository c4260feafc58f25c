.machine chip8
; The CRC of the 256 bytes from the program on, in v6.

        ld v6, 0xFF
        ld v5, 0x07             ; polynomial
start:  ld v1, 0
byte:   ld i, 0x200
        add i, v1
        ld v0, [i]
        xor v6, v0
        ld v2, 8
bit:    shl v6
        se vf, 0
        xor v6, v5
        add v2, 0xFF
        se v2, 0
        jp bit
        add v1, 1
        se v1, 0
        jp byte
        jp start
