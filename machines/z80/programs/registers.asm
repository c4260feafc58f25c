; registers.asm: the other set of registers, and the halves of ix and iy
;
;   lathe run machines/z80/programs/registers.asm
;
; The idea: `exx` and `ex af, af'` change to another set of registers, as an interrupt
; routine would to save time. The halves of ix and iy are registers that no manual names.
;
; expect: output "1234 5678 12 34\n"

.machine z80

        .org $100
        .entry main

main:   ld sp, 0
        ld bc, $1234
        exx
        ld bc, $5678
        exx
        ld a, b
        call put_hex
        ld a, c
        call put_hex
        ld a, ' '
        call putc
        exx
        ld a, b
        call put_hex
        ld a, c
        call put_hex
        ld a, ' '
        call putc
        exx

        push bc
        pop ix
        ld a, ixh
        call put_hex
        ld a, ' '
        call putc
        ld iyl, $34
        ld a, iyl
        call put_hex
        call newline
        halt

        .include "lib.asm"
