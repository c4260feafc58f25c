; primes.asm: prints the prime numbers below 100
;
;   lathe run machines/i8080/programs/primes.asm
;
; The idea: the sieve of Eratosthenes. One byte for every number, and what is a
; multiple of a prime is marked.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine i8080

        .org 0x100
        .entry main

LAST    = 100

main:   lxi sp, 0
        mvi c, 2
next:   mov e, c
        mvi d, 0
        lxi h, marks
        dad d
        mov a, m
        ora a
        jnz other
        push h
        mov l, c
        mvi h, 0
        call put_dec
        mvi a, ' '
        call putc
        pop h
        mov a, c                ; mark the multiples: de is the step
.mark:  mvi m, 1
        dad d
        add c
        cpi LAST
        jc .mark
other:  inr c
        mov a, c
        cpi LAST
        jnz next
        call newline
        hlt

marks   = 0x1000

        .include "lib.asm"
