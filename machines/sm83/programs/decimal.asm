; decimal.asm: prints the powers of two up to 2 to the 64th, with decimal arithmetic
;
;   lathe run machines/sm83/programs/decimal.asm
;
; The idea: a byte holds two decimal digits, one in each half. `adc` adds them as
; if they were binary, and `daa` then repairs the sum, with the half carry that
; `adc` has left behind. The carry goes on to the next two digits. So a number of
; twenty digits is doubled without a single multiplication, and printing it needs
; no division. Scores in games are kept like this.
;
;   digits   ten bytes, the lowest first
;   c        which power it is

.machine sm83

digits  = $C000
BYTES   = 10

        .org $150
        .entry main

main:   ld sp, $E000
        ld hl, digits
        ld b, BYTES
        xor a
.clear: ld [hl+], a
        dec b
        jr nz, .clear
        inc a
        ld [digits], a          ; 2 to the 0th

        ld c, 0
.next:  call show
        ld a, c
        cp 64
        jr z, .done
        call double
        inc c
        jr .next
.done:  halt

double: ld hl, digits
        ld b, BYTES
        or a                    ; no carry yet
.byte:  ld a, [hl]
        adc a, a
        daa
        ld [hl+], a
        dec b
        jr nz, .byte
        ret

; show: prints "c number". Zeros in front are left out: d says whether a digit
; has been printed.

show:   ld l, c
        ld h, 0
        call put_dec
        ld a, ' '
        call putc
        ld hl, digits + BYTES - 1
        ld b, BYTES
        ld d, 0
.byte:  ld a, [hl]
        swap a
        call .digit
        ld a, [hl-]
        call .digit
        dec b
        jr nz, .byte
        jp newline

.digit: and $0F
        jr nz, .print
        bit 0, d
        ret z                   ; a zero in front
.print: ld d, 1
        add a, '0'
        jp putc

        .include "lib.asm"
