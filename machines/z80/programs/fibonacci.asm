; fibonacci.asm: prints the Fibonacci numbers that fit into 16 bits
;
;   lathe run machines/z80/programs/fibonacci.asm
;
; The idea: the last two numbers are in hl and de. `add hl, de` makes the next one,
; and the carry tells when it does not fit any more; `ex de, hl` puts them in order.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 4181 6765 10946 17711 28657 46368 \n"

.machine z80

        .org $100
        .entry main

main:   ld sp, 0
        ld hl, 0
        ld de, 1
next:   push hl
        call put_dec
        ld a, ' '
        call putc
        pop hl
        add hl, de
        ex de, hl
        jr nc, next
        call put_dec            ; the last one is in hl now
        ld a, ' '
        call putc
        call newline
        halt

        .include "lib.asm"
