.machine rv32i
# interpreter.asm: an interpreter for a small language, at work on Collatz sequences
#
#   lathe run benches/real/rv32i/interpreter.asm -D ROUNDS=10
#
# The language has one character for each command and works on a stack:
#
#   0-9  that number            a-z  the variable      A-Z  into the variable
#   + - * &  with two numbers   >  half of a number    < =  1 or 0
#   .    into the checksum      [ ]  a loop: each [ takes a number, and 0 ends it
#   ;    the end
#
#   s0   the next character     s3   the variables     s6   the checksum
#   s1   the top of the stack   s4   the commands      s7   rounds left
#   s2   the open loops         t0   the character

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

        .equ    STACK, 0x4000
        .equ    LOOPS, 0x5000
        .equ    NAMES, 0x6000

start:  li      s7, ROUNDS
        la      s4, commands - ' ' * 4
        li      s3, NAMES
round:  la      s0, script
        li      s1, STACK
        li      s2, LOOPS

step:   lbu     t0, 0(s0)
        addi    s0, s0, 1
        slli    t1, t0, 2
        add     t1, t1, s4
        lw      t1, 0(t1)
        jr      t1

digit:  andi    t0, t0, 15
push:   sw      t0, 0(s1)
        addi    s1, s1, 4
        j       step

load:   andi    t0, t0, 31
        slli    t0, t0, 2
        add     t0, t0, s3
        lw      t0, 0(t0)
        j       push

store:  andi    t0, t0, 31
        slli    t0, t0, 2
        add     t0, t0, s3
        addi    s1, s1, -4
        lw      t1, 0(s1)
        sw      t1, 0(t0)
        j       step

# two: t1 and t2 are the two numbers on top; their place is left.

two:    addi    s1, s1, -8
        lw      t1, 0(s1)
        lw      t2, 4(s1)
        ret

plus:   call    two
        add     t0, t1, t2
        j       push
minus:  call    two
        sub     t0, t1, t2
        j       push
times:  call    two
        mul     t0, t1, t2
        j       push
both:   call    two
        and     t0, t1, t2
        j       push
less:   call    two
        sltu    t0, t1, t2
        j       push
equal:  call    two
        sub     t0, t1, t2
        seqz    t0, t0
        j       push
half:   lw      t0, -4(s1)
        srli    t0, t0, 1
        sw      t0, -4(s1)
        j       step

# mixed: turns the checksum by one bit to the left and adds the number.

mixed:  addi    s1, s1, -4
        lw      t0, 0(s1)
        slli    t1, s6, 1
        srli    t2, s6, 31
        or      s6, t1, t2
        add     s6, s6, t0
nothing:
        j       step

# A loop begins: if it is not to run, behind its end.

open:   addi    s1, s1, -4
        lw      t0, 0(s1)
        beqz    t0, .skip
        sw      s0, 0(s2)
        addi    s2, s2, 4
        j       step
.skip:  li      t1, 1
        li      t2, '['
        li      t3, ']'
.next:  lbu     t0, 0(s0)
        addi    s0, s0, 1
        bne     t0, t2, .other
        addi    t1, t1, 1
.other: bne     t0, t3, .next
        addi    t1, t1, -1
        bnez    t1, .next
        j       step

# A loop ends: back to its bracket, which takes the condition.

close:  addi    s2, s2, -4
        lw      s0, 0(s2)
        addi    s0, s0, -1
        j       step

end:    addi    s7, s7, -1
        bnez    s7, round
        mv      a0, s6
        call    put_hex
        li      a0, 0
        li      a7, 93
        ecall

        .include "lib.asm"

# From the space to the tilde.

        .align  2
commands:
        .word   nothing, nothing, nothing, nothing, nothing, nothing, both, nothing
        .word   nothing, nothing, times, plus, nothing, minus, mixed, nothing
        .rept   10
        .word   digit
        .endr
        .word   nothing, end, less, equal, half, nothing, nothing
        .rept   26
        .word   store
        .endr
        .word   open, nothing, close, nothing, nothing, nothing
        .rept   26
        .word   load
        .endr
        .word   nothing, nothing, nothing, nothing

# For n from 1 to 26: how many steps from n to 1?

script: .ascii  "1N 1[ nX 0L x1-[ x1&O o[x3*1+X 0] o0=[x>X 0] l1+L x1-] l. n1+N n93*< ];"
