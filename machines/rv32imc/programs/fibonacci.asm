.machine rv32imc
# fibonacci.asm: prints the Fibonacci numbers that fit in 32 bits
#
#   lathe run machines/rv32imc/programs/fibonacci.asm
#
# The idea: add until there is a carry. After an addition the carry is whether the
# sum is smaller than one of its parts.
#
#   s0, s1   this number and the next one
#
# expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 75025 121393 196418 317811 514229 832040 1346269 2178309 3524578 5702887 9227465 14930352 24157817 39088169 63245986 102334155 165580141 267914296 433494437 701408733 1134903170 1836311903 2971215073\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 0
        li      s1, 1
.next:  mv      a0, s0
        call    put_dec
        add     s0, s0, s1              # the one after the next
        mv      a0, s0
        mv      s0, s1
        mv      s1, a0
        bltu    s1, s0, .last           # it did not fit
        li      a0, ' '
        call    put_char
        j       .next
.last:  li      a0, ' '
        call    put_char
        mv      a0, s0
        call    put_dec
        call    put_line
        j       exit

        .include "lib.asm"
