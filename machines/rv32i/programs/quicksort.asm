.machine rv32i
# quicksort.asm: sorts words with quicksort and prints them before and after
#
#   lathe run machines/rv32i/programs/quicksort.asm
#
# The idea: choose the last word as the pivot, bring everything smaller to the
# front, put the pivot behind it, and sort both sides the same way. Every call
# has a frame of its own on the stack, with the return address and the registers
# that the convention says a routine must give back.
#
# expect: output
# | before: 170 -45 75 2147483647 90 -802 24 66 -2147483648 0 33 1000000 -1 7 75 99
# | after:  -2147483648 -802 -45 -1 0 7 24 33 66 75 75 90 99 170 1000000 2147483647

        .globl  main

        .equ    STACK, 0x10000

        .text
main:   li      sp, STACK
        la      a0, before
        call    put_text
        call    show

        la      a0, numbers
        la      a1, end - 4
        call    quicksort

        la      a0, after
        call    put_text
        call    show
        j       exit

# quicksort: sorts the signed words from a0 up to a1, both included.
#
#   s0       the first word
#   s1       the last word
#   s2       where the next smaller word goes

quicksort:
        bgeu    a0, a1, .short          # one word or none is sorted
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        sw      s2, 0(sp)
        mv      s0, a0
        mv      s1, a1

        lw      t0, (s1)                # the pivot
        mv      s2, s0
        mv      t1, s0
.scan:  lw      t2, (t1)
        bge     t2, t0, .large
        lw      t3, (s2)                # a smaller one: swap it to the front
        sw      t2, (s2)
        sw      t3, (t1)
        addi    s2, s2, 4
.large: addi    t1, t1, 4
        bne     t1, s1, .scan

        lw      t3, (s2)                # the pivot between both sides
        sw      t0, (s2)
        sw      t3, (s1)

        mv      a0, s0
        addi    a1, s2, -4
        call    quicksort
        addi    a0, s2, 4
        mv      a1, s1
        call    quicksort

        lw      s2, 0(sp)
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
.short: ret

# show: prints the numbers, a space before each, and ends the line.

show:   addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        la      s0, numbers
        la      s1, end
.next:  li      a0, ' '
        call    put_char
        lw      a0, 0(s0)
        call    put_int
        addi    s0, s0, 4
        bne     s0, s1, .next
        call    put_line
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret

        .include "lib.asm"

        .section .rodata
before: .asciz  "before:"
after:  .asciz  "after: "

        .data
        .align  2
numbers:
        .word   170, -45, 75, 2147483647, 90, -802, 24, 66, -2147483648, 0, 33, 1000000, -1, 7, 75, 99
end:
