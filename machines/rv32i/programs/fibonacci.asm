.machine rv32i
# fibonacci.asm: prints the Fibonacci numbers that fit in 64 bits
#
#   lathe run machines/rv32i/programs/fibonacci.asm
#
# The idea: a number of 64 bits is a pair of registers. There is no carry flag:
# after an addition the carry is whether the sum is smaller than one of its
# parts, which `sltu` tells. To print, the pair is divided by ten, a bit at a
# time; the quotient replaces the number.
#
#   s0:s1    this number, high and low
#   s2:s3    the next one
#   s4       its place in the row

        .globl  main

        .equ    STACK, 0x10000

        .text
main:   li      sp, STACK
        li      s0, 0                   # F(0) = 0
        li      s1, 0
        li      s2, 0                   # F(1) = 1
        li      s3, 1
        li      s4, 0

next:   call    show
        add     t1, s1, s3              # the low halves
        sltu    t2, t1, s1              # their carry
        add     t0, s0, s2
        sltu    t3, t0, s0
        add     t0, t0, t2
        sltu    t4, t0, t2
        or      t3, t3, t4              # the carry of both high additions
        mv      s0, s2
        mv      s1, s3
        mv      s2, t0
        mv      s3, t1
        addi    s4, s4, 1
        beqz    t3, next

        call    show                    # the last that fits
        j       exit

# show: prints a line with this number.

show:   addi    sp, sp, -16
        sw      ra, 12(sp)
        li      a0, 'F'
        call    put_char
        mv      a0, s4
        call    put_dec
        la      a0, equals
        call    put_text
        mv      a0, s0
        mv      a1, s1
        call    put_dec64
        call    put_line
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret

# put_dec64: prints the unsigned number in a0:a1.

put_dec64:
        addi    sp, sp, -32
        addi    t0, sp, 32              # behind the last digit
        li      t1, 10
.digit: li      t2, 0                   # the remainder
        li      t3, 64
.bit:   slli    t2, t2, 1               # the highest bit goes into the remainder,
        srli    t4, a0, 31              # a bit of the quotient comes in below
        or      t2, t2, t4
        slli    a0, a0, 1
        srli    t4, a1, 31
        or      a0, a0, t4
        slli    a1, a1, 1
        bltu    t2, t1, .less
        sub     t2, t2, t1
        ori     a1, a1, 1
.less:  addi    t3, t3, -1
        bnez    t3, .bit
        addi    t2, t2, '0'
        addi    t0, t0, -1
        sb      t2, 0(t0)
        or      t4, a0, a1
        bnez    t4, .digit

        addi    t1, sp, 32
        li      a7, PUTCHAR
.show:  lbu     a0, 0(t0)
        ecall
        addi    t0, t0, 1
        bne     t0, t1, .show
        addi    sp, sp, 32
        ret

        .include "lib.asm"

        .section .rodata
equals: .asciz  " = "
