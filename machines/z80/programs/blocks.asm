; blocks.asm: what the block instructions do
;
;   lathe run machines/z80/programs/blocks.asm
;
; The idea: `ldir` copies, and copies a byte over and over if the target is one place
; behind; `lddr` copies upwards within one place; `cpir` looks for a byte.
;
; expect: output "Z80 Z80 Z80 Z80 \n4\n"

.machine z80

buffer  = $8000

        .org $100
        .entry main

main:   ld sp, 0
        ld hl, word             ; once from the program
        ld de, buffer
        ld bc, 4
        ldir
        ld hl, buffer           ; and then from what is there already
        ld de, buffer + 4
        ld bc, 12
        ldir
        ex de, hl
        ld (hl), '\n'
        inc hl
        ld (hl), 0
        ld hl, buffer
        call puts

        ld hl, buffer           ; how many blanks?
        ld bc, 16
        ld e, 0
count:  ld a, ' '
        cpir
        jr nz, .done
        inc e
        ld a, b
        or c
        jr nz, count            ; there is more
.done:  ld h, 0
        ld l, e
        call put_dec
        call newline
        halt

word:   .ascii "Z80 "

        .include "lib.asm"
