.machine rv32imc
# crc.asm: the CRC-32 of a text
#
#   lathe run machines/rv32imc/programs/crc.asm
#
# The idea: for each bit, shift to the right, and where a 1 falls out, exclusive or
# with the polynomial. No table: the loop over the bits is a few short forms.
#
# expect: output "CBF43926\n"

        .globl  main
main:   li      sp, 0x10000
        la      s0, text
        li      a0, -1
        li      a4, 0xEDB88320
.byte:  lbu     a1, 0(s0)
        beqz    a1, .done
        addi    s0, s0, 1
        xor     a0, a0, a1
        li      a2, 8
.bit:   andi    a3, a0, 1
        srli    a0, a0, 1
        beqz    a3, .even
        xor     a0, a0, a4
.even:  addi    a2, a2, -1
        bnez    a2, .bit
        j       .byte
.done:  not     a0, a0
        call    put_hex
        call    put_line
        j       exit

        .include "lib.asm"

text:   .asciz  "123456789"
