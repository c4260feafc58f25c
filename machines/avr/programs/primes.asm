; primes.asm: the primes below 100, with a sieve
;
;   lathe run machines/avr/programs/primes.asm
;
; The idea: a cell for each number, 0 as long as nothing divides it. Stores through x cross out the
; multiples of each prime.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 \n"

.machine avr

LIMIT   = 100
SIEVE   = 0x60

main:   ldi r17, 2              ; the number
        ldi r19, 1
next:   ldi r26, lo8(SIEVE)
        ldi r27, hi8(SIEVE)
        add r26, r17
        ld r16, x
        cpse r16, r19           ; crossed out?
        rcall prime
        inc r17
        cpi r17, LIMIT
        brne next
        rcall newline
        sleep

; Writes the number in r17, and crosses out its multiples.

prime:  mov r24, r17
        clr r25
        rcall put_dec
        ldi r16, ' '
        rcall putc
        mov r18, r17
.mark:  st x, r19
        add r26, r17
        add r18, r17
        cpi r18, LIMIT
        brlo .mark
        ret

        .include "lib.asm"
