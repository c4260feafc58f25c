.machine rv32i
# Primes below 8192, by crossing out: flags at 0x4000. Again and again, as all programs here.

        .equ    FLAGS, 0x4000
        .equ    LIMIT, 8192

        li      s0, FLAGS
        li      s1, FLAGS + LIMIT
        li      s2, 91
        li      s3, 1
start:  mv      t0, s0
clear:  sb      zero, 0(t0)
        addi    t0, t0, 1
        bltu    t0, s1, clear
        li      t1, 2
outer:  add     t0, s0, t1
        lbu     t2, 0(t0)
        bnez    t2, next
        add     t0, t0, t1
inner:  sb      s3, 0(t0)
        add     t0, t0, t1
        bltu    t0, s1, inner
next:   addi    t1, t1, 1
        bltu    t1, s2, outer
        j       start
