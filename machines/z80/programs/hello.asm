; hello.asm: prints a greeting
;
;   lathe run machines/z80/programs/hello.asm
;
; The idea: port 1 is a terminal. `otir` writes b bytes from hl to port c, so the
; whole text goes out with one instruction.
;
; expect: output "Hello from a Z80!\n"

.machine z80

        .org $100
        .entry main

main:   ld hl, text
        ld b, length
        ld c, 1
        otir
        halt

text:   .ascii "Hello from a Z80!\n"
length  = $ - text
