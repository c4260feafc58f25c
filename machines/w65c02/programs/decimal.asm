; decimal.asm: adds decimal numbers and trusts the flags
;
;   lathe run machines/w65c02/programs/decimal.asm
;
; The idea: on this chip n and z fit the decimal result, so `99 + 1` is zero for `beq`.
;
; expect: output "99 + 1 is 00, carry 1\n"

.machine w65c02

        .org $0400
        .entry main

main:   sed
        clc
        lda #$99
        adc #$01
        cld
        php
        bne wrong
        ldx #0
next:   lda text,x
        beq number
        jsr putc
        inx
        bra next
number: lda #0
        jsr put_hex
        ldx #0
.carry: lda rest,x
        beq .flag
        jsr putc
        inx
        bra .carry
.flag:  plp
        lda #0
        rol a
        jsr put_dec
        jsr newline
wrong:  stp

text:   .byte "99 + 1 is ", 0
rest:   .byte ", carry ", 0

        .include "lib.asm"
