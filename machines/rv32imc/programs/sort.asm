.machine rv32imc
# sort.asm: sorts words by insertion
#
#   lathe run machines/rv32imc/programs/sort.asm
#
# The idea: the words on the left are in order. The next one goes to the left as
# long as its neighbour is larger.
#
#   s0       where the next word is
#
# expect: output "3 7 12 33 41 58 64 90 100 4000\n"

        .globl  main
main:   li      sp, 0x10000
        la      s0, words + 4
.next:  mv      a1, s0
        lw      a0, 0(a1)
.left:  la      a2, words
        beq     a1, a2, .here
        lw      a3, -4(a1)
        bgeu    a0, a3, .here
        sw      a3, 0(a1)
        addi    a1, a1, -4
        j       .left
.here:  sw      a0, 0(a1)
        addi    s0, s0, 4
        la      a2, end
        bne     s0, a2, .next

        la      s0, words
.show:  lw      a0, 0(s0)
        call    put_dec
        addi    s0, s0, 4
        la      a2, end
        beq     s0, a2, .done
        li      a0, ' '
        call    put_char
        j       .show
.done:  call    put_line
        j       exit

        .include "lib.asm"

        .balign 4
words:  .word   33, 7, 100, 58, 3, 4000, 64, 12, 90, 41
end:
