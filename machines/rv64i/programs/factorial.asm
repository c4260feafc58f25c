.machine rv64i
# factorial.asm: the largest factorial of 64 bits
#
#   lathe run machines/rv64i/programs/factorial.asm
#
# The idea: multiply until the upper half of the product is not 0.
#
# expect: output "20! = 2432902008176640000\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 0                   # n
        li      s1, 1                   # n!
.next:  addi    s2, s0, 1
        mulhu   a0, s1, s2
        bnez    a0, .done
        mul     s1, s1, s2
        mv      s0, s2
        j       .next
.done:  mv      a0, s0
        call    put_dec
        la      a0, equals
        call    put_text
        mv      a0, s1
        call    put_dec
        call    put_line
        j       exit

        .include "lib.asm"
equals: .asciz  "! = "
