; fibonacci.asm: prints the Fibonacci numbers that fit into 16 bits
;
;   lathe run machines/msp430/programs/fibonacci.asm
;
; The idea: the last two numbers are in r4 and r5. Adding one to the other makes the next one, and the carry tells when
; it does not fit any more.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine msp430

main:   mov #0x0A00, sp
        clr r4
        mov #1, r5
next:   call #show
        mov r4, r6
        mov r5, r4
        add r6, r5
        jnc next
        call #show              ; the last one that fits
        call #newline
        halt

show:   mov r4, r12
        call #put_dec
        mov #' ', r12
        br #putc

        .include "lib.asm"
