.machine rv32i
# hello.asm: prints a greeting
#
#   lathe run machines/rv32i/programs/hello.asm
#
# The idea: as on Linux, environment call 64 writes a2 bytes from address a1 to
# the file a0, of which 1 is the console; call 93 ends the program. The number of
# the call is in a7.
#
# expect: output "Hello from rv32i, where every instruction is a word!\n"

        .globl  _start

        .text
_start: li      a0, 1
        la      a1, text
        li      a2, end - text
        li      a7, 64
        ecall

        li      a7, 93
        li      a0, 0
        ecall

        .section .rodata
text:   .ascii  "Hello from rv32i, where every instruction is a word!\n"
end:
