.machine stack8a
; gcd.asm: the greatest common divisor and the least common multiple
;
; Euclid, two thousand years old and made for a stack: replace a and b by b and a mod b, and
; when b has become 0, a is the answer. The multiple is then a / gcd × b; divided first, so
; that nothing grows beyond 8 bits on the way.
;
;   lathe run machines/stack8a/programs/gcd.asm
;
; data 0x00 0x01  the two numbers, put there with the program
; data 0x02       their greatest common divisor
; data 0x03       their least common multiple
;
; expect: data[0x00] = 84, 36, 12, 252
; expect: sp = 0

A       = 0
B       = 1
GCD     = 2
LCM     = 3

        .include "lib.asm"

        get A
        get B
euclid: swp                     ; b a
        ldo 1                   ; b a b
        call divide             ; b quotient rest
        swp
        drp                     ; b rest: the new a and b
        dup
        nez
        branch euclid
        drp
        put GCD

        get A
        get GCD
        call divide
        drp                     ; no rest, of course
        get B
        call multiply
        put LCM
        htl

        divide_here
        multiply_here

        .data
        .byte 84, 36
