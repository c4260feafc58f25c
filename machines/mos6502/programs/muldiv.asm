; muldiv.asm: multiplies and divides, which the processor cannot
;
;   lathe run machines/mos6502/programs/muldiv.asm
;
; The idea: it is done as on paper, digit by digit, with digits that are bits.
; `mul16` and `div16` in lib.asm do it with shifts and additions. Here they are
; tried on pairs of numbers, and prove one another: quotient times divisor plus
; remainder must be what was divided.
;
;   ptr     a pair in the table
;   left    the pair that is tried, four bytes; right is the second half of it
;
; expect: output
; | 12 * 30 = 360, / = 0 remainder 12
; | 255 * 255 = 65025, / = 1 remainder 0
; | 1000 * 7 = 7000, / = 142 remainder 6
; | 12345 * 6789 = 83810205, / = 1 remainder 5556
; | 5 * 9 = 45, / = 0 remainder 5
; | 65535 * 256 = 16776960, / = 255 remainder 255
; | 40000 * 32769 = 1310760000, / = 1 remainder 7231
; | 65535 * 65535 = 4294836225, / = 1 remainder 0
; | 65535 * 1 = 65535, / = 65535 remainder 0

.machine mos6502

ptr     = $10
left    = $12
right   = $14

        .org $0400
        .entry main

main:   lda #<table
        sta ptr
        lda #>table
        sta ptr+1
.pair:  ldy #3
.copy:  lda (ptr),y
        sta left,y              ; there is no zero page with y for `sta`: three bytes
        dey
        bpl .copy
        jsr try
        clc
        lda ptr
        adc #4
        sta ptr
        bcc .same
        inc ptr+1
.same:  cmp #<table_end
        bne .pair
        lda ptr+1
        cmp #>table_end
        bne .pair
done:   jmp done

try:    ldx #left               ; left * right = product
        jsr show
        jsr print
        .asciiz " * "
        ldx #right
        jsr show
        jsr print
        .asciiz " = "
        jsr factors
        jsr mul16
        jsr put_dec32

        jsr print               ; left / right = quotient, remainder
        .asciiz ", / = "
        jsr factors
        jsr div16
        ldx #first
        jsr show
        jsr print
        .asciiz " remainder "
        ldx #rest
        jsr show

        jsr mul16               ; quotient * right + remainder = left?
        clc
        lda number
        adc rest
        tax
        lda number+1
        adc rest+1
        cmp left+1
        bne .wrong
        cpx left
        bne .wrong
        jmp newline
.wrong: jsr print
        .asciiz " (wrong)\n"
        rts

; factors: first = left, second = right.

factors:
        ldx #3
.copy:  lda left,x
        sta first,x             ; second stands right behind it
        dex
        bpl .copy
        rts

; show: prints the 16 bits in the zero page at x.

show:   lda 0,x
        sta number
        lda 1,x
        sta number+1
        jmp put_dec16

table:  .word 12, 30
        .word 255, 255
        .word 1000, 7
        .word 12345, 6789
        .word 5, 9
        .word 65535, 256
        .word 40000, 32769
        .word 65535, 65535
        .word 65535, 1
table_end:

        .include "lib.asm"
