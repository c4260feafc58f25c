; sort.asm: sorts a row of numbers and prints it before and after
;
;   lathe run machines/sm83/programs/sort.asm
;
; The idea: insertion sort. Take the next number, move every larger one before
; it a place to the right, and put the number into the gap. `ld a, [hl-]` reads
; and steps to the left in one go. A number that is smaller than all others
; stands in front of the row, so that nobody has to look for the row's end.
;
;   b    how many numbers are left to take
;   c    the number that was taken
;   de   where it was taken from
;   hl   the gap, and the number on its left
;
; expect: output
; | before: 170 45 75 255 90 2 24 66 128 1 33 127 201 7 75 99
; | after:  1 2 7 24 33 45 66 75 75 90 99 127 128 170 201 255

.machine sm83

        .org $150
        .entry main

main:   ld sp, $E000
        call print
        .asciiz "before:"
        call show

        ld de, numbers + 1      ; a row of one number is sorted
        ld b, COUNT - 1
.take:  ld a, [de]
        ld c, a
        ld h, d
        ld l, e
.shift: dec hl
        ld a, [hl+]             ; the number on the left of the gap
        cp c
        jr c, .insert           ; is smaller,
        jr z, .insert           ; or the same: here is the place
        ld [hl-], a             ; else it moves, and the gap is where it was
        jr .shift
.insert:
        ld [hl], c
        inc de
        dec b
        jr nz, .take

        call print
        .asciiz "after: "
        call show
        halt

; show: prints the numbers, a blank before each, and ends the line.

show:   ld de, numbers
        ld b, COUNT
.next:  ld a, ' '
        call putc
        ld a, [de]
        inc de
        ld l, a
        ld h, 0
        call put_dec
        dec b
        jr nz, .next
        jp newline

        .include "lib.asm"

        .org $C000
        .byte 0                 ; smaller than all others
numbers:
        .byte 170, 45, 75, 255, 90, 2, 24, 66, 128, 1, 33, 127, 201, 7, 75, 99
COUNT   = $ - numbers
