; hello.asm: prints a line
;
;   lathe run machines/pdp11/programs/hello.asm
;
; expect: output "Hello, world!\n"

.machine pdp11

main:   mov #main, sp
        mov #text, r0
        call puts
        halt

        .include "lib.asm"
text:   .asciiz "Hello, world!\n"
