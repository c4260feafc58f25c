# lib.asm: what several programs need
#
# The rules are those of the RISC-V calling convention: arguments and results in
# a0 to a7; t0 to t6 and a0 to a7 may be changed by a routine, s0 to s11 and sp
# may not.

EXIT    = 93
PUTCHAR = 11
GETCHAR = 12

# put_char: writes the character in a0.

put_char:
        li      a7, PUTCHAR
        ecall
        ret

# put_line: ends the line.

put_line:
        li      a0, '\n'
        tail    put_char

# put_text: writes the text at a0, up to its zero byte.

put_text:
        mv      t0, a0
        li      a7, PUTCHAR
.next:  lbu     a0, 0(t0)
        beqz    a0, .done
        ecall
        addi    t0, t0, 1
        j       .next
.done:  ret

# put_int: writes the signed number in a0.

put_int:
        bgez    a0, put_dec
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      a0, 8(sp)
        li      a0, '-'
        call    put_char
        lw      a0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        neg     a0, a0                  # the lowest number stays itself, and is right as unsigned

# put_dec: writes the unsigned number in a0. The digits come out last one first,
# so they go to the stack and from there to the console.

put_dec:
        addi    sp, sp, -16
        addi    t0, sp, 16              # behind the last digit
        li      t1, 10
.digit: remu    t2, a0, t1
        divu    a0, a0, t1
        addi    t2, t2, '0'
        addi    t0, t0, -1
        sb      t2, 0(t0)
        bnez    a0, .digit
        addi    t1, sp, 16
        li      a7, PUTCHAR
.show:  lbu     a0, 0(t0)
        ecall
        addi    t0, t0, 1
        bne     t0, t1, .show
        addi    sp, sp, 16
        ret

# exit: ends the program.

exit:   li      a0, 0
        li      a7, EXIT
        ecall
