; primes.asm: prints the primes below 1000, found with the sieve of Eratosthenes
;
;   lathe run machines/mos6502/programs/primes.asm
;
; The idea: one byte for every number, all of them 0. The first number whose
; byte is 0 is a prime; its multiples get a 1. The sieve begins at $2000, so the
; byte of the number $0123 is at $2123.
;
;   value     the number
;   ptr       the byte of a multiple of it
;   left      primes that still fit into the line

.machine mos6502

value   = $10
ptr     = $12
left    = $14

SIEVE   = $2000
LIMIT   = 1000
END     = SIEVE + LIMIT
IN_LINE = 16

        .org $0400
        .entry main

main:   ldx #0
        txa
clear:  sta SIEVE,x             ; four pages at once
        sta SIEVE+$100,x
        sta SIEVE+$200,x
        sta SIEVE+$300,x
        inx
        bne clear

        lda #2
        sta value
        stx value+1
        lda #IN_LINE
        sta left

test:   lda value               ; ptr = SIEVE + value
        sta ptr
        clc
        lda value+1
        adc #>SIEVE
        sta ptr+1
        ldy #0
        lda (ptr),y
        bne .next               ; crossed out
        jsr show

.cross: clc                     ; every multiple; the first ones were crossed
        lda ptr                 ; out before, which does no harm
        adc value
        sta ptr
        lda ptr+1
        adc value+1
        sta ptr+1
        lda ptr                 ; beyond the end?
        cmp #<END
        lda ptr+1
        sbc #>END
        bcs .next
        ldy #0
        lda #1
        sta (ptr),y
        bne .cross              ; always, since a is 1

.next:  inc value
        bne .same
        inc value+1
.same:  lda value
        cmp #<LIMIT
        bne test
        lda value+1
        cmp #>LIMIT
        bne test
        jsr newline
done:   jmp done

; show: prints the number. Before it comes a blank, or the end of the line when
; it is full; before the very first one, nothing.

show:   lda value+1
        bne .mark
        lda value
        cmp #2
        beq .first
.mark:  lda #' '
        dec left
        bne .same
        lda #IN_LINE
        sta left
        lda #'\n'
.same:  jsr putc
.first: lda value
        sta number
        lda value+1
        sta number+1
        jmp put_dec16           ; its `rts` is ours, too

        .include "lib.asm"
