# What the programs of this folder share.

# mix: turns the checksum by one bit to the left and adds a0.

mix:    slli    t0, s9, 1
        srli    t1, s9, 31
        or      s9, t0, t1
        add     s9, s9, a0
        ret

# put_hex: writes a0 as eight digits, and ends the line.

put_hex:
        mv      t0, a0
        li      t1, 8
        li      a7, 11
.digit: srli    a0, t0, 28
        slli    t0, t0, 4
        sltiu   t2, a0, 10
        bnez    t2, .small
        addi    a0, a0, 'A' - '0' - 10
.small: addi    a0, a0, '0'
        ecall
        addi    t1, t1, -1
        bnez    t1, .digit
        li      a0, '\n'
        ecall
        ret
