; primes.asm: prints the prime numbers below 100, with a sieve
;
;   lathe run machines/z80/programs/primes.asm
;
; The idea: one byte for each number. Multiples of a prime are marked by adding the
; prime to their address; `ix` walks over the numbers, `hl` over the multiples.
;
;   ix   the byte of the number that is looked at
;   e    the number
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine z80

LIMIT   = 100
sieve   = $8000

        .org $100
        .entry main

main:   ld sp, 0
        ld ix, sieve + 2
        ld de, 2                ; d stays 0
next:   ld a, (ix+0)
        or a
        jr nz, .marked
        push de
        ex de, hl
        call put_dec
        ld a, ' '
        call putc
        pop de
        push ix
        pop hl
.mark:  add hl, de
        ld (hl), 1
        ld a, h
        cp (sieve + LIMIT) >> 8
        jr nz, .marked
        ld a, l
        cp (sieve + LIMIT) & $FF
        jr c, .mark
.marked:
        inc ix
        inc e
        ld a, e
        cp LIMIT
        jr c, next
        call newline
        halt

        .include "lib.asm"
