.machine rv32i
# mandelbrot.asm: draws the Mandelbrot set in characters
#
#   lathe run machines/rv32i/programs/mandelbrot.asm
#
# The idea: for a point c, begin with z = 0 and repeat z = z * z + c. How many turns
# it takes until |z| is above 2 says which character is drawn. Numbers are fixed
# point: 4096 is 1, so a product is shifted right by 12, with its sign.
#
#   s0, s1   c, real and imaginary
#   s2, s3   z
#   s4       turns
#   s5, s6   the squares of z's parts

        .globl  main

        .equ    ONE, 4096
        .equ    LEFT, -2 * ONE
        .equ    RIGHT, ONE / 2
        .equ    TOP, -ONE - 64
        .equ    STEP_X, 160
        .equ    STEP_Y, 320
        .equ    TURNS, 32
        .equ    STACK, 0x10000

        .text
main:   li      sp, STACK
        li      s1, TOP
row:    li      s0, LEFT
point:  li      s2, 0
        li      s3, 0
        li      s4, 0
.turn:  mul     s5, s2, s2
        srai    s5, s5, 12
        mul     s6, s3, s3
        srai    s6, s6, 12
        add     t0, s5, s6
        li      t1, 4 * ONE
        bgt     t0, t1, .out
        mul     t0, s2, s3              # 2 * real * imaginary, so shifted by one less
        srai    t0, t0, 11
        add     s3, t0, s1
        sub     s2, s5, s6
        add     s2, s2, s0
        addi    s4, s4, 1
        li      t0, TURNS
        bltu    s4, t0, .turn
.out:   la      t0, shades
        srli    t1, s4, 1
        add     t0, t0, t1
        lbu     a0, 0(t0)
        call    put_char
        addi    s0, s0, STEP_X
        li      t0, RIGHT
        ble     s0, t0, point
        call    put_line
        addi    s1, s1, STEP_Y
        li      t0, -TOP
        ble     s1, t0, row
        j       exit

        .include "lib.asm"

        .section .rodata
shades: .ascii  " ..::-=+ox*XO%#%@"
