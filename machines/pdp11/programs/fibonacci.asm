; fibonacci.asm: prints the Fibonacci numbers that fit into 16 bits
;
;   lathe run machines/pdp11/programs/fibonacci.asm
;
; The idea: the last two numbers are in r1 and r2. Adding one to the other makes the next
; one, and the carry tells when it does not fit any more.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine pdp11

main:   mov #main, sp
        clr r1
        mov #1, r2
next:   mov r1, r0
        call put_dec
        mov #' ', r0
        call putc
        mov r1, r3
        mov r2, r1
        add r3, r2
        bcc next
        mov r1, r0              ; the last one that fits
        call put_dec
        mov #' ', r0
        call putc
        call newline
        halt

        .include "lib.asm"
