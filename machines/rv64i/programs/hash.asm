.machine rv64i
# hash.asm: the FNV-1a hash of a text
#
#   lathe run machines/rv64i/programs/hash.asm
#
# The idea: exclusive or with each byte, then multiply with a prime, modulo 2 to
# the power of 64, which is what `mul` does. Its start and its prime are numbers of
# 64 bits, for which `li` takes eight instructions.
#
# expect: output "85944171F73967E8\n"

        .globl  main
main:   li      sp, 0x10000
        li      a0, 0xCBF29CE484222325
        li      a1, 0x100000001B3
        la      a2, text
.next:  lbu     a3, 0(a2)
        beqz    a3, .done
        xor     a0, a0, a3
        mul     a0, a0, a1
        addi    a2, a2, 1
        j       .next
.done:  call    put_hex
        call    put_line
        j       exit

        .include "lib.asm"
text:   .asciz  "foobar"
