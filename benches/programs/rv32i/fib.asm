.machine rv32i
# The Fibonacci numbers by recursion: calls, returns and the stack.

        .equ    STACK, 0x10000

        li      sp, STACK
start:  li      a0, 18
        call    fib
        j       start

fib:    li      t0, 2
        bltu    a0, t0, base
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        mv      s0, a0
        addi    a0, s0, -1
        call    fib
        mv      s1, a0
        addi    a0, s0, -2
        call    fib
        add     a0, a0, s1
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
base:   ret
