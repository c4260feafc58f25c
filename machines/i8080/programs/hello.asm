; hello.asm: prints a greeting
;
;   lathe run machines/i8080/programs/hello.asm
;
; The idea: port 1 is a terminal. hl goes along the text until a zero byte; `ora a`
; sets the flags without changing a.
;
; expect: output "Hello from an 8080!\n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi h, text
next:   mov a, m
        ora a
        jz done
        out 1
        inx h
        jmp next
done:   hlt

text:   .asciiz "Hello from an 8080!\n"
