; A shift register of 16 bits with feedback, in r1.
.machine duo16

        ldi r1, 0xACE1
        ldi r2, 1
        ldi r3, 0xB400
loop:   and r4, r1, r2
        lsr r1, r1, r2
        sub r0, r4, r0
        jez skip
        xor r1, r1, r3
skip:   add r5, r5, r2
        jmp loop
