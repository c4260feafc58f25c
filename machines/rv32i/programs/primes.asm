.machine rv32i
# primes.asm: prints the primes below 1000, found with the sieve of Eratosthenes
#
#   lathe run machines/rv32i/programs/primes.asm
#
# The idea: one byte of memory per number says whether it is crossed out. The
# first number that is not is a prime; its multiples, from its square on, are
# crossed out.
#
#   s0       the sieve
#   s1       the number we look at
#   s2       the limit
#   s3       primes printed in this line

        .globl  main

        .equ    LIMIT, 1000
        .equ    IN_LINE, 16
        .equ    STACK, 0x10000

        .text
main:   li      sp, STACK
        la      s0, sieve
        li      s1, 2
        li      s2, LIMIT
        li      s3, 0

number: add     t0, s0, s1
        lbu     t0, 0(t0)
        bnez    t0, onward              # crossed out

        beqz    s3, .first              # the very first has nothing before it
        li      a0, ' '
        li      t0, IN_LINE
        bne     s3, t0, .same
        li      s3, 0
        li      a0, '\n'
.same:  call    put_char
.first: addi    s3, s3, 1
        mv      a0, s1
        call    put_dec

        mul     t0, s1, s1
        li      t2, 1
.cross: bge     t0, s2, onward
        add     t1, s0, t0
        sb      t2, 0(t1)
        add     t0, t0, s1
        j       .cross

onward: addi    s1, s1, 1
        blt     s1, s2, number
        call    put_line
        j       exit

        .include "lib.asm"

        .data
sieve:  .zero   LIMIT
