; fibonacci.asm: the Fibonacci numbers below 65536
;
;   lathe run machines/avr/programs/fibonacci.asm
;
; The idea: two numbers of 16 bits, each in a pair of registers. `movw` copies a pair, and the
; carry out of a sum is the end.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine avr

main:   clr r2
        clr r3                  ; the number
        ldi r20, 1
        ldi r21, 0              ; the one after it
next:   movw r24, r2
        rcall put_dec
        ldi r16, ' '
        rcall putc
        movw r22, r20
        add r22, r2             ; the sum of both
        adc r23, r3
        movw r2, r20
        movw r20, r22
        brcc next               ; movw leaves the carry alone
        movw r24, r2
        rcall put_dec
        ldi r16, ' '
        rcall putc
        rcall newline
        sleep

        .include "lib.asm"
