; fibonacci.asm: prints the Fibonacci numbers that fit into 32 bits
;
;   lathe run machines/mos6502/programs/fibonacci.asm
;
; The idea: numbers of 32 bits are added byte by byte, from the lowest to the
; highest, and `adc` takes the carry of the byte before along. What counts the
; bytes must leave the carry alone: `inx` and `dey` do, `cpx` would not. The
; first sum that leaves a carry at its end is the first that does not fit.
;
;   older, newer   the last two numbers, four bytes each

.machine mos6502

older   = $10
newer   = $14

        .org $0400
        .entry main

main:   lda #0
        ldx #7
.zero:  sta older,x
        dex
        bpl .zero
        inc newer

next:   jsr show                ; the older one
        ldx #0                  ; becomes the newer one, and the newer one
        ldy #4                  ; their sum
        clc
.add:   lda newer,x
        pha
        adc older,x
        sta newer,x
        pla
        sta older,x
        inx
        dey
        bne .add
        bcc next

        jsr show                ; the last one before the sum that does not fit
done:   jmp done

; show: prints the older number.

show:   ldx #3
.copy:  lda older,x
        sta number,x
        dex
        bpl .copy
        jsr put_dec32
        jmp newline

        .include "lib.asm"
