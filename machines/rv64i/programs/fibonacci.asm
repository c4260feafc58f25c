.machine rv64i
# fibonacci.asm: the largest Fibonacci number of 64 bits
#
#   lathe run machines/rv64i/programs/fibonacci.asm
#
# The idea: add until there is a carry: until the sum is smaller than its parts.
#
# expect: output "F93 = 12200160415121876738\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 0                   # this one
        li      s1, 1                   # the next one
        li      s2, 0                   # its place in the row
.next:  add     a0, s0, s1
        mv      s0, s1
        mv      s1, a0
        addi    s2, s2, 1
        bgeu    s1, s0, .next
        li      a0, 'F'
        call    put_char
        mv      a0, s2
        call    put_dec
        la      a0, equals
        call    put_text
        mv      a0, s0
        call    put_dec
        call    put_line
        j       exit

        .include "lib.asm"
equals: .asciz  " = "
