; primes.asm: prints the primes below 100
;
;   lathe run machines/pdp8/programs/primes.asm
;
; The idea: the sieve of Eratosthenes, a word for each number. Word 10 of page 0 counts up before every use, so
; filling a table needs no other instruction for it.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine pdp8

LIMIT   = 144                   ; a hundred

main:   tad before
        dca 10
        tad count
        dca number
fill:   cla iac
        dca i 10
        isz number
        jmp fill
        tad two
        dca number
next:   tad first
        tad number
        dca at
        tad i at
        sna cla
        jmp skip
        tad number
        jms i put_dec
        tad space
        jms i putc
strike: tad at                  ; strike out its multiples
        tad number
        dca at
        tad at
        tad end
        sma cla
        jmp skip
        dca i at
        jmp strike
skip:   isz number
        tad number
        tad count
        sza cla
        jmp next
        jms i newline
        hlt

number: .cell 0
at:     .cell 0
two:    .cell 2
space:  .cell ' '
count:  .cell -LIMIT
before: .cell sieve - 1
first:  .cell sieve
end:    .cell -(sieve + LIMIT)
        .include "lib.asm"
        .org 1000
sieve:  .space LIMIT
