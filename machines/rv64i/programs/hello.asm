.machine rv64i
# hello.asm: prints a greeting
#
#   lathe run machines/rv64i/programs/hello.asm
#
# The idea: as on Linux, environment call 64 writes a2 bytes from address a1 to
# the file a0, of which 1 is the console; call 93 ends the program.
#
# expect: output "Hello from rv64i, where every register has room!\n"

        .globl  _start
_start: li      a0, 1
        la      a1, text
        li      a2, end - text
        li      a7, 64
        ecall
        li      a0, 0
        li      a7, 93
        ecall

text:   .ascii  "Hello from rv64i, where every register has room!\n"
end:
