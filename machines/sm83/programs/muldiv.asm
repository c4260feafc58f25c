; muldiv.asm: multiplies and divides, which the processor cannot
;
;   lathe run machines/sm83/programs/muldiv.asm
;
; The idea: it is done as on paper, digit by digit, with digits that are bits.
; `mul16` and `div16` in lib.asm do it with shifts and additions. Here they are
; tried on pairs of numbers, and prove one another: quotient times divisor plus
; remainder must be what was divided.
;
;   hl   a pair in the table
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

.machine sm83

first    = $C000                ; the pair that is tried
second   = $C002
quotient = $C004

        .org $150
        .entry main

main:   ld sp, $E000
        ld hl, table
.pair:  ld de, first            ; four bytes to where they are known by name
        ld b, 4
.copy:  ld a, [hl+]
        ld [de], a
        inc de
        dec b
        jr nz, .copy
        push hl
        call try
        pop hl
        ld a, l
        cp <table_end
        jr nz, .pair
        ld a, h
        cp >table_end
        jr nz, .pair
        halt

try:    call show_first         ; first * second = product
        call print
        .asciiz " * "
        call show_second
        call print
        .asciiz " = "
        call factors
        call mul16
        ld a, l
        ldh [number], a
        ld a, h
        ldh [number + 1], a
        ld a, e
        ldh [number + 2], a
        ld a, d
        ldh [number + 3], a
        call put_dec32

        call print              ; first / second = quotient, remainder
        .asciiz ", / = "
        call factors
        ld h, d
        ld l, e
        call div16
        ld a, l
        ld [quotient], a
        ld a, h
        ld [quotient + 1], a
        push de
        call put_dec
        call print
        .asciiz " remainder "
        pop hl
        push hl
        call put_dec

        ld a, [quotient]        ; quotient * second + remainder = first?
        ld e, a
        ld a, [quotient + 1]
        ld d, a
        call mul16              ; bc is still the second
        pop bc                  ; the remainder
        add hl, bc
        ld a, [first]
        cp l
        jr nz, .wrong
        ld a, [first + 1]
        cp h
        jr nz, .wrong
        jp newline
.wrong: call print
        .asciiz " (wrong)\n"
        ret

; factors: de = first, bc = second.

factors:
        ld hl, first
        ld a, [hl+]
        ld e, a
        ld a, [hl+]
        ld d, a
        ld a, [hl+]
        ld c, a
        ld b, [hl]
        ret

show_first:
        ld hl, first
        jr show
show_second:
        ld hl, second
show:   ld a, [hl+]
        ld h, [hl]
        ld l, a
        jp put_dec

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
