; primes.asm: prints the primes below 1000, found with the sieve of Eratosthenes
;
;   lathe run machines/sm83/programs/primes.asm
;
; The idea: one byte for every number, all of them 0. The first number whose
; byte is 0 is a prime; its multiples get a 1. The sieve begins at $C000, the
; first byte of a Game Boy's RAM, so the byte of the number $0123 is at $C123.
;
;   bc   the number
;   hl   the byte of a multiple of it
;   d    primes that still fit into the line

.machine sm83

SIEVE   = $C000
LIMIT   = 1000
IN_LINE = 16

        .org $150
        .entry main

main:   ld sp, $E000
        ld hl, SIEVE
.clear: xor a
        ld [hl+], a
        ld a, h
        cp hi(SIEVE + LIMIT + 255)
        jr nz, .clear

        ld bc, 2
        ld d, IN_LINE
test:   ld hl, SIEVE
        add hl, bc
        ld a, [hl]
        or a
        jr nz, .next            ; crossed out
        call show

.cross: add hl, bc              ; every multiple; the first ones were crossed
        ld a, l                 ; out before, which does no harm
        sub <(SIEVE + LIMIT)
        ld a, h
        sbc a, >(SIEVE + LIMIT)
        jr nc, .next            ; beyond the end
        ld [hl], 1
        jr .cross

.next:  inc bc
        ld a, c
        cp <LIMIT
        jr nz, test
        ld a, b
        cp >LIMIT
        jr nz, test
        call newline
        halt

; show: prints bc. Before it comes a blank, or the end of the line when it is
; full; before the very first one, nothing.

show:   push hl
        ld a, b
        or a
        jr nz, .sep
        ld a, c
        cp 2
        jr z, .first
.sep:   ld a, ' '
        dec d
        jr nz, .same
        ld a, '\n'
        ld d, IN_LINE
.same:  call putc
.first: ld h, b
        ld l, c
        call put_dec
        pop hl
        ret

        .include "lib.asm"
