; decimal.asm: the powers of two up to 2^40, in decimal arithmetic
;
;   lathe run machines/z80/programs/decimal.asm
;
; The idea: two decimal digits in a byte. `adc` and `daa` double them, from the lowest
; byte to the highest, and the carry goes along. `rld` takes the digits out one by one.
;
; expect: output "1099511627776\n"

.machine z80

SIZE    = 7

        .org $100
        .entry main

main:   ld sp, 0
        ld c, 40
double: ld hl, digits
        ld b, SIZE
        or a                    ; no carry
.byte2: ld a, (hl)
        adc a, a
        daa
        ld (hl), a
        inc hl
        djnz .byte2
        dec c
        jr nz, double

        ld b, SIZE
        ld c, 0                 ; whether a digit has been written
show:   dec hl
        xor a
        rld                     ; the upper digit to a
        call digit
        xor a
        rld                     ; and the lower one
        call digit
        djnz show
        call newline
        halt

; digit: writes the digit in a, unless it is a zero before all others.

digit:  or a
        jr nz, .write
        bit 0, c
        ret z
.write: set 0, c
        add a, '0'
        jp putc

digits: .byte 1, 0, 0, 0, 0, 0, 0

        .include "lib.asm"
