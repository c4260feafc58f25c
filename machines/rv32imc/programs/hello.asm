.machine rv32imc
# hello.asm: prints a greeting
#
#   lathe run machines/rv32imc/programs/hello.asm
#
# The idea: a program for rv32i as it is. Most of its lines now take two bytes;
# `la` and `ecall` still take eight and four.
#
# expect: output "Hello from rv32imc, where half a word will often do!\n"

        .globl  _start
_start: li      a0, 1
        la      a1, text
        li      a2, end - text
        li      a7, 64                  # write
        ecall
        li      a0, 0
        li      a7, 93                  # exit
        ecall

text:   .ascii  "Hello from rv32imc, where half a word will often do!\n"
end:
