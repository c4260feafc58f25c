; life.asm: Conway's game of life on a field of 16 by 16 cells
;
;   lathe run machines/sm83/programs/life.asm
;
; The idea: the field is one page, a byte for every cell, and the low byte of an
; address is yx: the row in the upper half, the column in the lower one. Rows
; wrap by themselves, because a byte does; columns wrap if only the lower half of
; the sum is kept. So the field has no edge.
;
; With the cell itself there are nine cells to add up. Three of them: the cell
; lives. Four: it stays as it is. Any other number: it is dead.
;
;   hl   a cell of the field
;   c    the sum

.machine sm83

now         = $C000             ; the field
then        = $C100             ; and what becomes of it
GENERATIONS = 4

        .org $150
        .entry main

main:   ld sp, $E000
        call begin
        ld b, 0
.next:  call print
        .asciiz "generation "
        ld l, b
        ld h, 0
        call put_dec
        call newline
        call show
        ld a, b
        cp GENERATIONS
        jr z, .done
        call step
        inc b
        jr .next
.done:  halt

; begin: an empty field, then the cells of the table.

begin:  ld hl, now
        xor a
.clear: ld [hl+], a
        inc l
        dec l
        jr nz, .clear           ; until the low byte is 0 again
        ld de, cells
        ld h, >now
        ld b, CELLS
.cell:  ld a, [de]
        inc de
        ld l, a
        ld [hl], 1
        dec b
        jr nz, .cell
        ret

step:   ld hl, now
.cell:  call sum
        ld a, c
        cp 3
        jr z, .lives
        cp 4
        ld a, 0
        jr nz, .set
        ld a, [hl]
        jr .set
.lives: ld a, 1
.set:   ld h, >then
        ld [hl], a
        ld h, >now
        inc l
        jr nz, .cell

        ld de, then             ; and back
.copy:  ld a, [de]
        ld [hl+], a
        inc e
        jr nz, .copy
        ret

; sum: c = how many of the nine cells around hl live. Changes a, de.

sum:    ld c, 0
        ld a, l
        sub 16                  ; the row above
        call .row
        ld a, l
        call .row
        ld a, l
        add a, 16
.row:   push hl
        ld e, a
        dec a
        call .one
        ld a, e
        call .one
        ld a, e
        inc a
        call .one
        pop hl
        ret

.one:   xor e                   ; the row of e, with the column of a
        and $0F
        xor e
        ld l, a
        ld a, [hl]
        add a, c
        ld c, a
        ret

show:   ld hl, now
.cell:  bit 0, [hl]
        ld a, '.'
        jr z, .dead
        ld a, '#'
.dead:  call putc
        inc l
        ld a, l
        and $0F
        call z, newline         ; the row is full
        inc l                   ; is l 0?
        dec l
        jr nz, .cell
        ret

; A glider that is about to cross the edge, a blinker and a toad.

cells:  .byte $DE, $EF, $FD, $FE, $FF
        .byte $34, $35, $36
        .byte $79, $7A, $7B, $88, $89, $8A
CELLS   = $ - cells

        .include "lib.asm"
