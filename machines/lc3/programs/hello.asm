.machine lc3
; hello.asm: prints a greeting
;
;   lathe run machines/lc3/programs/hello.asm
;
; The idea: the trap routine PUTS writes the text whose address is in R0, one
; character a word, up to the zero word. LEA makes the address.
;
; expect: output "Hello from lc3, where even a character takes a word!\n"

        .ORIG x3000
        LEA R0, TEXT
        PUTS
        HALT

TEXT    .STRINGZ "Hello from lc3, where even a character takes a word!\n"
        .END
