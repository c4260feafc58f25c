; decimal.asm: prints the powers of two up to 2 to the 64th, with decimal arithmetic
;
;   lathe run machines/mos6502/programs/decimal.asm
;
; The idea: a byte holds two decimal digits, one in each half. After `sed` the
; processor adds such bytes as decimal numbers, and the carry goes on to the next
; two digits. So a number of twenty digits is doubled without a single
; multiplication, and printing it needs no division.
;
;   digits   ten bytes, the lowest first
;   power    which power it is

.machine mos6502

digits  = $10
power   = $20
begun   = $21
BYTES   = 10

        .org $0400
        .entry main

main:   lda #0
        sta power
        ldx #BYTES-1
.clear: sta digits,x
        dex
        bpl .clear
        inc digits              ; 2 to the 0th

.next:  jsr show
        lda power
        cmp #64
        beq done
        jsr double
        inc power
        bne .next
done:   jmp done

double: ldx #0
        ldy #BYTES
        sed
        clc
.byte:  lda digits,x
        adc digits,x
        sta digits,x
        inx
        dey
        bne .byte
        cld
        rts

; show: prints power and number. Zeros in front are left out: `begun` says
; whether a digit has been printed.

show:   lda power
        jsr put_dec
        lda #' '
        jsr putc
        lda #0
        sta begun
        ldx #BYTES-1
.byte:  lda digits,x
        lsr
        lsr
        lsr
        lsr
        jsr .digit
        lda digits,x
        and #$0F
        jsr .digit
        dex
        bpl .byte
        jmp newline

.digit: bne .print
        bit begun
        bpl .skip               ; a zero in front
.print: ora #'0'
        jsr putc
        lda #$80
        sta begun
.skip:  rts

        .include "lib.asm"
