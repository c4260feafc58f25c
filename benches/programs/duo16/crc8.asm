; The CRC of the 256 bytes at 0x2000.
.machine duo16

        ldi r1, 0xFF
        ldi r2, 0x2000
        ldi r8, 1
        ldi r6, 0x100
        ldi r9, 0x107
byte:   load r3l, r2, 0
        xor r1, r1, r3
        ldi r5, 8
bit:    add r1, r1, r1
        and r4, r1, r6
        jez skip
        xor r1, r1, r9
skip:   sub r5, r5, r8
        jnz bit
        add r2, r2, r8
        ldi r4, 0x2100
        sub r0, r2, r4
        jb byte
        ldi r2, 0x2000
        jmp byte
