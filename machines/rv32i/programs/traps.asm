.machine rv32i
# traps.asm: a handler that lends the machine an instruction it does not have
#
#   lathe run machines/rv32i/programs/traps.asm
#
# The idea: an instruction that no row of the definition knows goes to the handler
# in `mtvec`, with its address in `mepc`. The handler looks at the word. If it is
# the instruction that we invented, it does the work, moves `mepc` past it, and
# returns with `mret`. The program does not notice.
#
# The invented instruction counts the ones in a0 and leaves the count in a0. Its
# word is 0x0000000B, an opcode that RISC-V leaves to anyone.
#
# expect: output
# | 0 has ones: 0
# | 1 has ones: 1
# | 255 has ones: 8
# | 2147483649 has ones: 2
# | 4294967295 has ones: 32
# | 123456789 has ones: 16

        .globl  main

        .equ    STACK, 0x10000
        .equ    ILLEGAL, 2
        .equ    POPCOUNT, 0x0000000B

.macro popcount
        .word   POPCOUNT
.endm

        .text
main:   li      sp, STACK
        la      s0, values
        la      s1, end
next:   lw      s2, 0(s0)

        la      t0, handler
        csrw    mtvec, t0
        mv      a0, s2
        popcount
        mv      s3, a0
        csrw    mtvec, zero             # without a handler the console works again

        mv      a0, s2
        call    put_dec
        la      a0, has
        call    put_text
        mv      a0, s3
        call    put_dec
        call    put_line
        addi    s0, s0, 4
        bne     s0, s1, next
        j       exit

# handler: counts the ones in a0. All other registers come back as they were.

        .align  2
handler:
        csrw    mscratch, t0
        addi    sp, sp, -16
        sw      t1, 12(sp)
        sw      t2, 8(sp)

        csrr    t0, mcause
        li      t1, ILLEGAL
        bne     t0, t1, .wrong
        csrr    t0, mepc
        lw      t1, 0(t0)
        li      t2, POPCOUNT
        bne     t1, t2, .wrong
        addi    t0, t0, 4
        csrw    mepc, t0

        li      t1, 0
.bit:   beqz    a0, .done
        addi    t2, a0, -1              # clears the lowest 1
        and     a0, a0, t2
        addi    t1, t1, 1
        j       .bit
.done:  mv      a0, t1

        lw      t2, 8(sp)
        lw      t1, 12(sp)
        addi    sp, sp, 16
        csrr    t0, mscratch
        mret

.wrong: csrw    mtvec, zero             # another trap: end with its number
        mv      a0, t0
        li      a7, EXIT
        ecall

        .include "lib.asm"

        .section .rodata
has:    .asciz  " has ones: "
        .align  2
values: .word   0, 1, 255, 0x80000001, 0xFFFFFFFF, 123456789
end:
