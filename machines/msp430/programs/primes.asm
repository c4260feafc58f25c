; primes.asm: prints the primes below 100
;
;   lathe run machines/msp430/programs/primes.asm
;
; The idea: the sieve of Eratosthenes, one byte a number, reached beside a register.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine msp430

LIMIT   = 100
sieve   = 0x0200

main:   mov #0x0A00, sp
        mov #2, r4
next:   cmp.b #0, sieve(r4)
        jnz skip
        mov r4, r12
        call #put_dec
        mov #' ', r12
        call #putc
        mov r4, r5              ; strike out its multiples
strike: add r4, r5
        cmp #LIMIT, r5
        jhs skip
        mov.b #1, sieve(r5)
        jmp strike
skip:   inc r4
        cmp #LIMIT, r4
        jlo next
        call #newline
        halt

        .include "lib.asm"
