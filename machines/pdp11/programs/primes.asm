; primes.asm: prints the primes below 100
;
;   lathe run machines/pdp11/programs/primes.asm
;
; The idea: the sieve of Eratosthenes, one byte a number. `clrb` and `tstb` reach a byte
; beside a register, so the table needs no pointer of its own.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine pdp11

LIMIT   = 100

main:   mov #main, sp
        mov #LIMIT, r1
fill:   movb #1, sieve-1(r1)
        sob r1, fill
        mov #2, r1
next:   tstb sieve(r1)
        beq skip
        mov r1, r0
        call put_dec
        mov #' ', r0
        call putc
        mov r1, r2              ; strike out its multiples
strike: add r1, r2
        cmp r2, #LIMIT
        bhis skip
        clrb sieve(r2)
        br strike
skip:   inc r1
        cmp r1, #LIMIT
        blo next
        call newline
        halt

        .include "lib.asm"
sieve:  .space LIMIT
