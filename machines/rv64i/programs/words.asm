.machine rv64i
# words.asm: what the instructions for words of 32 bits do with the upper half
#
#   lathe run machines/rv64i/programs/words.asm
#
# The idea: `addw` and its sisters look at 32 bits and extend the sign of what they
# make; `lwu` is the one that does not extend it.
#
# expect: output "FFFFFFFF80000000\n0000000080000000\nFFFFFFFFFFFFFFFF\n0000000000000001\nFFFFFFFFFEDCBA98\n00000000FEDCBA98\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 0x7FFFFFFF
        li      a1, 1
        addw    a0, s0, a1              # the sum overflows
        call    show
        add     a0, s0, a1              # and here it does not
        call    show
        li      a0, 0x80000000
        sraiw   a0, a0, 31
        call    show
        li      a0, 0xFFFFFFFF80000000
        srliw   a0, a0, 31
        call    show
        lw      a0, value
        call    show
        lwu     a0, value
        call    show
        j       exit

# show: prints a0, and leaves a1 as 1.

show:   addi    sp, sp, -16
        sd      ra, 8(sp)
        call    put_hex
        call    put_line
        ld      ra, 8(sp)
        addi    sp, sp, 16
        li      a1, 1
        ret

        .include "lib.asm"
value:  .word   0xFEDCBA98
