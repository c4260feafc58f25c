.machine stack8a
; primes.asm: the primes below 240, with the sieve of Eratosthenes
;
; One cell of data for each number, and sixteen at the top for the stack: that is all the
; memory there is. Where a number is crossed out, its cell becomes 1. A number below 240
; that is no prime has a factor up to 15, so crossing out stops there.
;
; Then the primes are collected in the very cells of the sieve: the list grows more slowly
; than the numbers go on, so it only overwrites what has been read. And no jump decides: each
; number is written at the end of the list, prime or not. The list's length then grows by
; 1 + the truth of "crossed out". True is FF, which is -1: so what is no prime adds 0, and
; the next number takes its place.
;
;   lathe run machines/stack8a/programs/primes.asm
;
; data 0x00 … 0x33  the primes (and the rest of the sieve above them)
; data 0xFF         how many there are
;
; expect: data[0x00] = 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101
; expect: data[0x1A] = 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239
; expect: data[0xFF] = 52
; expect: sp = 255

LIMIT   = 240                   ; 240 … 255 are for the stack
ROOT    = 16                    ; 16 × 16 is more than LIMIT

        .include "lib.asm"

        x2                      ; p: the number whose multiples are crossed out
number: dup
        lda
        nez                     ; a mask needs all its bits
        branch next             ; it is crossed out itself: so are its multiples
        dup
        shl 1                   ; p m: the first multiple
cross:  x1
        ldo 1
        sta                     ; cross m out
        ldo 1
        add                     ; m + p: at most 239 + 15, so it does not wrap
        dup
        psh LIMIT
        ilt
        branch cross
        drp
next:   inc
        dup
        psh ROOT
        ilt
        branch number
        drp

        x0                      ; the length of the list
        x2                      ; length n
gather: dup
        lda
        nez                     ; length n crossed?
        ldo 1
        ldo 3
        sta                     ; n goes to the end of the list
        inc                     ; 1 + 0 or 1 + FF
        ldo 2
        add
        sto 1                   ; the length counts it, or not
        inc
        dup
        psh LIMIT
        ilt
        branch gather
        drp
        htl                     ; the length is on the stack
