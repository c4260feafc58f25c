.machine stack8b
; primes.asm: the primes below 240, with the sieve of Eratosthenes
;
; One cell of data for each number, and sixteen at the top for the stack: that is all the
; memory there is. For each number whose cell is still 0, a prime, print it and put a 1 in
; the cells of its multiples. A multiple past the end is known by its size or, when the sum
; wraps past 255, by the carry.
;
;   lathe run machines/stack8b/programs/primes.asm
;
; data 0x00 … 0xEF  one for each number: 0 while it may be prime
; on the stack: p, the number; m, a multiple of it

LIMIT   = 240                   ; 240 … 255 are for the stack

        .include "lib.asm"

        x2                      ; p
number: dup
        lda
        skp next                ; crossed out
        psh prime
        sti
next:   inc
        dup
        psh LIMIT
        ieq
        unless number
        emit '\n'
        htl

prime:  dup
        call print
        emit ' '
        dup                     ; p m
cross:  ldo 1
        add                     ; the next multiple
        carried
        skp done                ; past 255
        dup
        psh LIMIT
        ilt
        skp inside
done:   drp
        jump next
inside: x1
        ldo 1
        sta
        jump cross

        print_here
