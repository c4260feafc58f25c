; fibonacci.asm: the Fibonacci numbers below 65536
;
;   lathe run machines/i8051/programs/fibonacci.asm
;
; The idea: two numbers of 16 bits, r1:r0 and r3:r2. The carry out of their sum is the end.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine i8051

main:   mov r0, #0
        mov r1, #0
        mov r2, #1
        mov r3, #0
next:   mov dpl, r0
        mov dph, r1
        lcall put_word
        mov a, #' '
        lcall putc
        mov a, r0               ; the sum goes to r3:r2, and r3:r2 to r1:r0
        add a, r2
        xch a, r2
        mov r0, a
        mov a, r1
        addc a, r3
        xch a, r3
        mov r1, a
        jnc next
        mov dpl, r0
        mov dph, r1
        lcall put_word
        mov a, #' '
        lcall putc
        lcall newline
        sjmp $

        .include "lib.asm"
