; reverse.asm: prints words backwards
;
;   lathe run machines/i8080/programs/reverse.asm
;
; The idea: letters go to the stack and come back in the other order. A push takes two
; bytes, so each letter goes with the flags.
;
; expect: output "0808 na morf olleh\n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi h, text
        mvi b, 0
push:   mov a, m
        ora a
        jz pop
        push psw
        inx h
        inr b
        jmp push
pop:    pop psw
        call putc
        dcr b
        jnz pop
        call newline
        hlt

text:   .asciiz "hello from an 8080"

        .include "lib.asm"
