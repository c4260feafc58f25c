.machine rv32imc
# sizes.asm: tells how long its own instructions are
#
#   lathe run machines/rv32imc/programs/sizes.asm
#
# The idea: the two lowest bits of an instruction say how long it is: 11 for four
# bytes, anything else for two. The program goes over a piece of code that is never
# executed and writes the lengths.
#
# expect: output "2424242422 = 28\n"

        .globl  main
main:   li      sp, 0x10000
        la      s0, sample
        la      s1, sample_end
        mv      s2, s0
.next:  lhu     a0, 0(s0)
        andi    a0, a0, 3
        addi    a0, a0, -3
        snez    a0, a0                  # 1 if it is short
        slli    a0, a0, 1
        li      a1, 4
        sub     a1, a1, a0
        add     s0, s0, a1
        addi    a0, a1, '0'
        call    put_char
        bne     s0, s1, .next
        la      a0, equals
        call    put_text
        sub     a0, s0, s2
        call    put_dec
        call    put_line
        j       exit

        .include "lib.asm"

sample: addi    a0, a0, 31              # short: a register, itself and six bits
        addi    a0, a0, 32              # too large
        lw      a0, 4(a1)               # short: registers of three bits
        lw      t0, 4(a1)               # t0 is none of them
        lw      t0, 4(sp)               # but the stack takes all registers
        lw      t0, 256(sp)             # though not so far
        lui     a0, 0xFFFE0             # short: what six bits with a sign can say
        lui     a0, 0xFFFDF             # one less
        sub     s0, s0, s1
        jr      ra
sample_end:

equals: .asciz  " = "
