; fibonacci.asm: prints the Fibonacci numbers that fit into 32 bits
;
;   lathe run machines/sm83/programs/fibonacci.asm
;
; The idea: numbers of 32 bits are added byte by byte, from the lowest to the
; highest. `adc` takes the carry of the byte before along, and of what stands
; between two `adc` here, nothing touches the carry: neither loads nor `inc hl`.
; The first sum that leaves a carry at its end is the first that does not fit.
;
;   older, newer   the last two numbers, four bytes each, lowest first

.machine sm83

older   = $C000
newer   = $C004

        .org $150
        .entry main

main:   ld sp, $E000
        ld hl, older
        ld b, 8
        xor a
.zero:  ld [hl+], a
        dec b
        jr nz, .zero
        inc a
        ld [newer], a

next:   call show               ; the older one
        ld hl, older            ; becomes the newer one, and the newer one
        ld de, newer            ; their sum
        ld b, 4
        or a                    ; no carry yet
.add:   ld a, [de]
        ld c, a
        adc a, [hl]
        ld [hl], c
        ld [de], a
        inc hl
        inc de
        dec b                   ; leaves the carry alone, too
        jr nz, .add
        jr nc, next

        call show               ; the last one before the sum that does not fit
        halt

; show: prints the older number.

show:   ld hl, older
        ld de, number
        ld b, 4
.copy:  ld a, [hl+]
        ld [de], a
        inc de
        dec b
        jr nz, .copy
        call put_dec32
        jp newline

        .include "lib.asm"
