; sort.asm: sorts bytes by insertion
;
;   lathe run machines/z80/programs/sort.asm
;
; The idea: everything before `hl` is in order. The byte at `hl` moves down past all
; that are larger, one place at a time: (ix-1) and (ix+0) are the two neighbours.
;
; expect: output "01 02 03 05 08 0D 15 22 37 59 90 E9 \n"

.machine z80

        .org $100
        .entry main

main:   ld sp, 0
        ld b, count - 1
        ld hl, list + 1
.next:  push hl
        pop ix
.down:  ld a, (ix-1)
        cp (ix+0)
        jr c, .there            ; in order
        jr z, .there
        ld c, (ix+0)            ; swap the neighbours
        ld (ix+0), a
        ld (ix-1), c
        dec ix
        jr .down
.there: inc hl
        djnz .next

        ld b, count
        ld hl, list
show:   ld a, (hl)
        inc hl
        call put_hex
        ld a, ' '
        call putc
        djnz show
        call newline
        halt

        .byte 0                 ; smaller than all others: nothing goes below it
list:   .byte $0D, $59, $03, $E9, $01, $22, $90, $08, $37, $02, $15, $05
count   = $ - list

        .include "lib.asm"
