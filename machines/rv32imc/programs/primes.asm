.machine rv32imc
# primes.asm: the primes below 100, with a sieve
#
#   lathe run machines/rv32imc/programs/primes.asm
#
# The idea: a byte for each number. Going up, a number whose byte is still 0 is a
# prime, and the bytes of its multiples are set.
#
# expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97\n"

LIMIT   = 100
SIEVE   = 0x8000

        .globl  main
main:   li      sp, 0x10000
        li      s0, 2
.next:  li      a1, SIEVE
        add     a1, a1, s0
        lbu     a0, 0(a1)
        bnez    a0, .done
        mv      a2, s0                  # strike out its multiples
        li      a3, LIMIT
        li      a4, 1
.mark:  sb      a4, 0(a1)
        add     a1, a1, s0
        add     a2, a2, s0
        blt     a2, a3, .mark
        li      a0, 2                   # a blank before all but the first
        beq     s0, a0, .show
        li      a0, ' '
        call    put_char
.show:  mv      a0, s0
        call    put_dec
.done:  addi    s0, s0, 1
        li      a0, LIMIT
        blt     s0, a0, .next
        call    put_line
        j       exit

        .include "lib.asm"
