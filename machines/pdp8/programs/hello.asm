; hello.asm: prints a line
;
;   lathe run machines/pdp8/programs/hello.asm
;
; expect: output "Hello, world!\n"

.machine pdp8

main:   tad text
        jms i puts
        hlt

text:   .cell letters
letters: .asciiz "Hello, world!\n"
        .include "lib.asm"
