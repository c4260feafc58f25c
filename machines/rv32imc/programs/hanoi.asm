.machine rv32imc
# hanoi.asm: the towers of Hanoi with three disks
#
#   lathe run machines/rv32imc/programs/hanoi.asm
#
# The idea: move all disks but one out of the way, then that one, then the others
# onto it. The stack remembers what is still to be done; its loads and stores have
# short forms for every register.
#
# expect: output "AC AB CB AC BA BC AC \n"

        .globl  main
main:   li      sp, 0x10000
        li      a0, 3
        li      a1, 'A'
        li      a2, 'C'
        li      a3, 'B'
        call    move
        call    put_line
        j       exit

# move: a0 disks from a1 to a2, by way of a3.

move:   beqz    a0, .nothing
        addi    sp, sp, -32
        sw      ra, 28(sp)
        sw      s2, 24(sp)
        sw      s3, 20(sp)
        sw      s4, 16(sp)
        sw      s5, 12(sp)
        addi    s2, a0, -1
        mv      s3, a1
        mv      s4, a2
        mv      s5, a3
        mv      a0, s2
        mv      a2, s5
        mv      a3, s4
        call    move
        mv      a0, s3
        call    put_char
        mv      a0, s4
        call    put_char
        li      a0, ' '
        call    put_char
        mv      a0, s2
        mv      a1, s5
        mv      a2, s4
        mv      a3, s3
        call    move
        lw      s5, 12(sp)
        lw      s4, 16(sp)
        lw      s3, 20(sp)
        lw      s2, 24(sp)
        lw      ra, 28(sp)
        addi    sp, sp, 32
.nothing:
        ret

        .include "lib.asm"
