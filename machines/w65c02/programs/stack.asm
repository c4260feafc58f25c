; stack.asm: reverses a line on the stack
;
;   lathe run machines/w65c02/programs/stack.asm
;
; The idea: every character is pushed with `phx`, and `plx` gives them back in reverse.
;
; expect: output "olleh\n"

.machine w65c02

        .org $0400
        .entry main

main:   ldy #0
push:   ldx text,y
        beq pop
        phx
        iny
        bra push
pop:    plx
        stx $F001
        dey
        bne pop
        jsr newline
        stp

text:   .byte "hello", 0

        .include "lib.asm"
