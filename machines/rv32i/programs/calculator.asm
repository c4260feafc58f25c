.machine rv32i
# calculator.asm: sums and products, a line each
#
#   echo '2+3*4' | lathe run machines/rv32i/programs/calculator.asm
#
# The idea: recursive descent. A sum is products with + and - between them; a
# product is factors with *, / and % between them; a factor is a number, a minus
# with a factor, or a sum in parentheses. Each of the three is a routine, and the
# stack remembers where one was called from another.
#
#   s0       the character that is read next, -1 at the end of the input

        .globl  main

        .equ    STACK, 0x10000

        .text
main:   li      sp, STACK
        call    next
line:   bltz    s0, .end
        call    sum
        li      t0, '\n'
        bne     s0, t0, .wrong
        call    put_int
        call    put_line
        call    next
        j       line

.wrong: li      t0, '\n'                # skip the rest of the line
        beq     s0, t0, .skip
        bltz    s0, .skip
        call    next
        j       .wrong
.skip:  la      a0, what
        call    put_text
        bltz    s0, .end
        call    next
        j       line
.end:   j       exit

# sum: a0 = the value of a sum.

sum:    addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s1, 8(sp)
        call    product
        mv      s1, a0
.more:  li      t0, '+'
        beq     s0, t0, .plus
        li      t0, '-'
        beq     s0, t0, .minus
        mv      a0, s1
        lw      s1, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
.plus:  call    next
        call    product
        add     s1, s1, a0
        j       .more
.minus: call    next
        call    product
        sub     s1, s1, a0
        j       .more

# product: a0 = the value of a product. What division by zero gives is what the
# machine gives: -1, and the remainder is the dividend.

product:
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s1, 8(sp)
        call    factor
        mv      s1, a0
.more:  li      t0, '*'
        beq     s0, t0, .times
        li      t0, '/'
        beq     s0, t0, .over
        li      t0, '%'
        beq     s0, t0, .rest
        mv      a0, s1
        lw      s1, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
.times: call    next
        call    factor
        mul     s1, s1, a0
        j       .more
.over:  call    next
        call    factor
        div     s1, s1, a0
        j       .more
.rest:  call    next
        call    factor
        rem     s1, s1, a0
        j       .more

# factor: a0 = the value of a number, of a minus with a factor, or of a sum in
# parentheses. Where none begins it is 0, and the caller sees the odd character. A
# parenthesis that is not closed at the end of the line is forgiven.

factor: addi    sp, sp, -16
        sw      ra, 12(sp)
        li      t0, '('
        beq     s0, t0, .paren
        li      t0, '-'
        beq     s0, t0, .minus
        li      a0, 0
.digit: addi    t0, s0, -'0'
        li      t1, 10
        bgeu    t0, t1, .done
        mul     a0, a0, t1
        add     a0, a0, t0
        sw      a0, 8(sp)
        call    next
        lw      a0, 8(sp)
        j       .digit
.minus: call    next
        call    factor
        neg     a0, a0
        j       .done
.paren: call    next
        call    sum
        li      t0, ')'
        bne     s0, t0, .done
        sw      a0, 8(sp)
        call    next
        lw      a0, 8(sp)
.done:  lw      ra, 12(sp)
        addi    sp, sp, 16
        ret

# next: s0 = the next character that is not a blank, or -1. a0 is changed.

next:   li      a7, GETCHAR
        ecall
        li      t0, ' '
        beq     a0, t0, next
        mv      s0, a0
        ret

        .include "lib.asm"

        .section .rodata
what:   .asciz  "what?\n"
