.machine rv64i
# random.asm: five numbers without a pattern
#
#   lathe run machines/rv64i/programs/random.asm
#
# The idea: xorshift, a shift register of 64 bits that goes through all numbers but
# 0. From 1 it is 13 to the left, 7 to the right, 17 to the left.
#
# expect: output "0000000040822041\n100041060C011441\n9B1E842F6E862629\nF554F503555D8025\n860C1FB090599265\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 1
        li      s1, 5
.next:  slli    a0, s0, 13
        xor     s0, s0, a0
        srli    a0, s0, 7
        xor     s0, s0, a0
        slli    a0, s0, 17
        xor     s0, s0, a0
        mv      a0, s0
        call    put_hex
        call    put_line
        addi    s1, s1, -1
        bnez    s1, .next
        j       exit

        .include "lib.asm"
