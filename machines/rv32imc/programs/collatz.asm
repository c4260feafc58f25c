.machine rv32imc
# collatz.asm: which number below 30 takes longest to come down to 1
#
#   lathe run machines/rv32imc/programs/collatz.asm
#
# The idea: halve an even number, triple an odd one and add 1, and count the steps.
#
#   s0       the number      s1       the most steps so far, of the number s2
#
# expect: output "27 takes 111 steps\n"

        .globl  main
main:   li      sp, 0x10000
        li      s0, 1
        li      s1, 0
.number:
        mv      a0, s0
        li      a1, 0
.step:  li      a2, 1
        beq     a0, a2, .one
        andi    a2, a0, 1
        beqz    a2, .even
        slli    a2, a0, 1
        add     a0, a0, a2
        addi    a0, a0, 1
        j       .count
.even:  srli    a0, a0, 1
.count: addi    a1, a1, 1
        j       .step
.one:   ble     a1, s1, .next
        mv      s1, a1
        mv      s2, s0
.next:  addi    s0, s0, 1
        li      a0, 30
        blt     s0, a0, .number
        mv      a0, s2
        call    put_dec
        la      a0, takes
        call    put_text
        mv      a0, s1
        call    put_dec
        la      a0, steps
        call    put_text
        j       exit

        .include "lib.asm"

takes:  .asciz  " takes "
steps:  .asciz  " steps\n"
