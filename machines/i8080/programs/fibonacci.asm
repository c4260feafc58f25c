; fibonacci.asm: prints the Fibonacci numbers that fit into 16 bits
;
;   lathe run machines/i8080/programs/fibonacci.asm
;
; The idea: the last two numbers are in hl and de. `dad d` makes the next one, and the
; carry tells when it does not fit any more; `xchg` puts them in order.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi h, 0
        lxi d, 1
next:   push h
        call put_dec
        mvi a, ' '
        call putc
        pop h
        dad d
        xchg
        jnc next
        call put_dec            ; the last one is in hl now
        mvi a, ' '
        call putc
        call newline
        hlt

        .include "lib.asm"
