.machine rv32i
# A shift register of 16 bits with feedback, in a0.

        li      a0, 0xACE1
        li      s0, 0xB400
loop:   andi    t0, a0, 1
        srli    a0, a0, 1
        beqz    t0, skip
        xor     a0, a0, s0
skip:   addi    a1, a1, 1
        j       loop
