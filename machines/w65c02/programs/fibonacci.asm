; fibonacci.asm: prints the Fibonacci numbers below 256
;
;   lathe run machines/w65c02/programs/fibonacci.asm
;
; The idea: `stz` clears a cell without a register, and the carry of the sum ends the loop.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 \n"

.machine w65c02

        .org $0400
        .entry main

older   = $10
newer   = $11

main:   stz older
        lda #1
        sta newer
next:   lda older
        jsr put_dec
        lda #' '
        jsr putc
        lda older
        clc
        adc newer
        ldy newer
        sty older
        sta newer
        bcc next
        lda older
        jsr put_dec
        lda #' '
        jsr putc
        jsr newline
        stp

        .include "lib.asm"
