; table.asm: jumps through a table
;
;   lathe run machines/w65c02/programs/table.asm
;
; The idea: `jmp (table,x)` goes to one of several routines; on the NMOS chip it took a push
; of the address and an `rts`.
;
; expect: output "two one three \n"

.machine w65c02

        .org $0400
        .entry main

main:   ldx #2
        jsr go
        ldx #0
        jsr go
        ldx #4
        jsr go
        jsr newline
        stp

go:     jmp (table,x)
table:  .word one, two, three

one:    ldx #one_text - texts
        bra write
two:    ldx #two_text - texts
        bra write
three:  ldx #three_text - texts
write:  lda texts,x
        beq .done
        jsr putc
        inx
        bra write
.done:  rts

texts:
one_text:
        .byte "one ", 0
two_text:
        .byte "two ", 0
three_text:
        .byte "three ", 0

        .include "lib.asm"
