.machine rv64i
# sort.asm: sorts numbers of 64 bits by insertion
#
#   lathe run machines/rv64i/programs/sort.asm
#
# The idea: the numbers on the left are in order. The next one goes to the left as
# long as its neighbour is larger.
#
# expect: output "-9223372036854775808 -1 0 12 4294967296 1000000000000 9223372036854775807\n"

        .globl  main
main:   li      sp, 0x10000
        la      s0, numbers + 8
.next:  mv      a1, s0
        ld      a0, 0(a1)
.left:  la      a2, numbers
        beq     a1, a2, .here
        ld      a3, -8(a1)
        bge     a0, a3, .here
        sd      a3, 0(a1)
        addi    a1, a1, -8
        j       .left
.here:  sd      a0, 0(a1)
        addi    s0, s0, 8
        la      a2, end
        bne     s0, a2, .next

        la      s0, numbers
.show:  ld      a0, 0(s0)
        call    put_int
        addi    s0, s0, 8
        la      a2, end
        beq     s0, a2, .done
        li      a0, ' '
        call    put_char
        j       .show
.done:  call    put_line
        j       exit

        .include "lib.asm"

        .balign 8
numbers: .dword 1000000000000, 12, 0x7FFFFFFFFFFFFFFF, -1, 0x8000000000000000, 4294967296, 0
end:
