.machine rv32i
# The CRC of the 256 bytes at 0x2000.

        .equ    DATA, 0x2000

        li      a0, 0xFF
start:  li      s0, DATA
        li      s1, DATA + 256
byte:   lbu     t0, 0(s0)
        xor     a0, a0, t0
        li      t1, 8
bit:    slli    a0, a0, 1
        andi    t2, a0, 0x100
        beqz    t2, skip
        xori    a0, a0, 0x107
skip:   addi    t1, t1, -1
        bnez    t1, bit
        addi    s0, s0, 1
        bltu    s0, s1, byte
        j       start
