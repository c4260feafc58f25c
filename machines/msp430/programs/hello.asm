; hello.asm: prints a line
;
;   lathe run machines/msp430/programs/hello.asm
;
; expect: output "Hello, world!\n"

.machine msp430

main:   mov #0x0A00, sp
        mov #text, r12
        call #puts
        halt

        .include "lib.asm"
text:   .asciiz "Hello, world!\n"
