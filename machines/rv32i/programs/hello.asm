.machine rv32i
# hello.asm: prints a greeting
#
#   lathe run machines/rv32i/programs/hello.asm
#
# The idea: environment call 64 writes the character in a0; call 93 ends the
# program. The number of the call is in a7.
#
#   s0       where we are in the text
#
# expect: output "Hello from rv32i, where every instruction is a word!\n"

        .globl  _start

        .text
_start: la      s0, text
        li      a7, 64
.next:  lbu     a0, 0(s0)
        beqz    a0, .done
        ecall
        addi    s0, s0, 1
        j       .next

.done:  li      a7, 93
        li      a0, 0
        ecall

        .section .rodata
text:   .asciz  "Hello from rv32i, where every instruction is a word!\n"
