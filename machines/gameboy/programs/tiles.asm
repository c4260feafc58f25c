; tiles.asm: a floor of tiles, and a frame
;
;   lathe run machines/gameboy/programs/tiles.asm
;
; The idea: the picture is made of 32 by 32 tiles of 8 by 8 pixels, of which 20
; by 18 can be seen. A byte for each, from 9800 on, says which. A tile is 16
; bytes from 8000 on: two for each row, whose bits make a shade of four. Tile 0
; is empty; tile 1 is a brick. The screen is off while all that is written, and
; shows it from then on.
;
; expect: ly = 144

.machine gameboy

        .org $150
        .entry main

main:   xor a
        ldh [rLCDC], a          ; off
        ld hl, $8010            ; tile 1
        ld de, brick
        ld b, 8
.row:   ld a, [de]
        inc de
        ld [hl+], a             ; both bits of a pixel are the same: white or black
        ld [hl+], a
        dec b
        jr nz, .row

; Rows of the picture: bricks where the row or the column is even.

        ld hl, $9800
.place: ld a, 1
        bit 5, l                ; an odd row
        jr z, .put
        ld a, l                 ; and an odd column: nothing
        cpl
        and 1
.put:   ld [hl+], a
        ld a, h
        cp $9C
        jr nz, .place

        ld a, $91               ; on, with tiles from 8000
        ldh [rLCDC], a
        ld a, 1
        call wait
        ld a, 1
        call wait               ; the second frame is complete
        stop

brick:  .byte %11111110
        .byte %11111110
        .byte %11111110
        .byte %00000000
        .byte %11101111
        .byte %11101111
        .byte %11101111
        .byte %00000000

        .include "lib.asm"
