.machine rv64i
# square.asm: the square of a number of 64 bits, which has 128
#
#   lathe run machines/rv64i/programs/square.asm
#
# The idea: `mulhu` gives the upper half of a product and `mul` the lower one.
#
# expect: output "FEDCBA9876543210 squared is FDBAC097C8DC5ACCDEEC6CD7A44A4100\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 0xFEDCBA9876543210
        mv      a0, s0
        call    put_hex
        la      a0, squared
        call    put_text
        mulhu   a0, s0, s0
        call    put_hex
        mul     a0, s0, s0
        call    put_hex
        call    put_line
        j       exit

        .include "lib.asm"
squared: .asciz " squared is "
