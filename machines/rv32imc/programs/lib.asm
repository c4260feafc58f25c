# lib.asm: what several programs need
#
# Arguments and results are in a0 to a7; t0 to t6 and a0 to a7 may be changed by a
# routine, s0 to s11 and sp may not. All of these have short forms for s0, s1 and
# a0 to a5, so that is where the work is done.

EXIT    = 93
PUTCHAR = 11

# put_line: ends the line.

put_line:
        li      a0, '\n'

# put_char: writes the character in a0.

put_char:
        li      a7, PUTCHAR
        ecall
        ret

# put_text: writes the text at a0, up to its zero byte.

put_text:
        mv      a1, a0
        li      a7, PUTCHAR
.next:  lbu     a0, 0(a1)
        beqz    a0, .done
        ecall
        addi    a1, a1, 1
        j       .next
.done:  ret

# put_dec: writes the unsigned number in a0. The digits come out last one first,
# so they go to the stack and from there to the console.

put_dec:
        addi    sp, sp, -16
        addi    a1, sp, 16              # behind the last digit
        li      a2, 10
.digit: remu    a3, a0, a2
        divu    a0, a0, a2
        addi    a3, a3, '0'
        addi    a1, a1, -1
        sb      a3, 0(a1)
        bnez    a0, .digit
        addi    a2, sp, 16
        li      a7, PUTCHAR
.show:  lbu     a0, 0(a1)
        ecall
        addi    a1, a1, 1
        bne     a1, a2, .show
        addi    sp, sp, 16
        ret

# put_hex: writes the eight digits of the number in a0.

put_hex:
        mv      a1, a0
        li      a2, 8
        li      a7, PUTCHAR
.digit: srli    a0, a1, 28
        slli    a1, a1, 4
        addi    a0, a0, '0'
        li      a3, '9'
        ble     a0, a3, .show
        addi    a0, a0, 'A' - '9' - 1
.show:  ecall
        addi    a2, a2, -1
        bnez    a2, .digit
        ret

# exit: ends the program.

exit:   li      a0, 0
        li      a7, EXIT
        ecall
