; primes.asm: prints the primes below 50
;
;   lathe run machines/w65c02/programs/primes.asm
;
; The idea: a sieve in the zero page; `stz` is not needed, cells are 0 at reset. `phx` and `plx`
; keep the number while it is printed.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 \n"

.machine w65c02

        .org $0400
        .entry main

sieve   = $80
limit   = 50

main:   ldx #2
next:   lda sieve,x
        bne .marked
        phx
        txa
        jsr put_dec
        lda #' '
        jsr putc
        plx
        stx $10
        txa
.mark:  clc
        adc $10
        cmp #limit
        bcs .marked
        tay
        pha
        lda #1
        sta sieve,y
        pla
        bra .mark
.marked:
        inx
        cpx #limit
        bne next
        jsr newline
        stp

        .include "lib.asm"
