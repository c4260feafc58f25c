.machine rv32i
# matrix.asm: multiplies a matrix of three rows and four columns by one of four rows
# and two columns
#
#   lathe run machines/rv32i/programs/matrix.asm
#
# The idea: each word of the product is the sum of the products of a row of the
# first matrix and a column of the second. A row lies in memory word after word,
# so the next word of a row is 4 bytes on, and the next word of a column a whole
# row.
#
# expect: output
# | 19 -27929
# | 599453 839871
# | -443 126177

        .globl  main

        .equ    STACK, 0x10000
        .equ    ROWS, 3
        .equ    INNER, 4
        .equ    COLUMNS, 2

        .text
main:   li      sp, STACK
        la      a0, first
        la      a1, second
        la      a2, product
        call    multiply

        la      s0, product
        li      s1, ROWS
row:    li      s2, COLUMNS
column: lw      a0, 0(s0)
        call    put_int
        addi    s0, s0, 4
        addi    s2, s2, -1
        beqz    s2, .end
        li      a0, ' '
        call    put_char
        j       column
.end:   call    put_line
        addi    s1, s1, -1
        bnez    s1, row
        j       exit

# multiply: the product of the matrices at a0 and a1 goes to a2.
#
#   t0       rows that are left
#   t1       columns that are left
#   t2       products that are left
#   t3, t4   the next words of the row and the column
#   t5       the sum
#   a3       the top of the column

multiply:
        li      t0, ROWS
.row:   li      t1, COLUMNS
        mv      a3, a1
.word:  mv      t3, a0
        mv      t4, a3
        li      t2, INNER
        li      t5, 0
.sum:   lw      a4, 0(t3)
        lw      a5, 0(t4)
        mul     a4, a4, a5
        add     t5, t5, a4
        addi    t3, t3, 4
        addi    t4, t4, 4 * COLUMNS
        addi    t2, t2, -1
        bnez    t2, .sum
        sw      t5, 0(a2)
        addi    a2, a2, 4
        addi    a3, a3, 4
        addi    t1, t1, -1
        bnez    t1, .word
        addi    a0, a0, 4 * INNER
        addi    t0, t0, -1
        bnez    t0, .row
        ret

        .include "lib.asm"

        .data
        .align  2
first:  .word   1, -2, 3, 4
        .word   50000, 60, 7, -8
        .word   0, 9, -10, 11
second: .word   12, 0
        .word   -13, 14000
        .word   15, 1
        .word   -16, 17
product:
        .zero   4 * ROWS * COLUMNS
