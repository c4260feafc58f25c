; wave.asm: stripes that an interrupt bends, line by line
;
;   lathe run machines/gameboy/programs/wave.asm
;
; The idea: the screen asks for an interrupt at the beginning of every line, if
; bit 5 of rSTAT is set. Its routine moves the picture for the line to come, as
; far as a table says. All tiles are the same: four columns of white, and four of
; black. The first frame is not complete, so the second is looked at.
;
; expect: ly = 144

.machine gameboy

        .org $48                ; the interrupt of the screen
        jp line

        .org $150
        .entry main

main:   xor a
        ldh [rLCDC], a
        ld hl, $8000            ; tile 0, which is everywhere
        ld b, 16
.row:   ld a, $0F
        ld [hl+], a
        dec b
        jr nz, .row
        ld a, %00100000
        ldh [rSTAT], a
        ld a, $91
        ldh [rLCDC], a
        ld a, %10
        ldh [rIE], a
        xor a
        ldh [rIF], a
        ei
.more:  halt
        ldh a, [rLY]
        cp 143
        jr nz, .more
        di
        ld a, 1
        call wait
        ld a, %10
        ldh [rIE], a
        xor a
        ldh [rIF], a
        ei
.again: halt
        ldh a, [rLY]
        cp 143
        jr nz, .again
        di
        ld a, 1
        call wait
        stop

; The line was drawn when it began, so this is for the next one: line L is moved
; by the entry of the table with the number (L - 1) / 4 mod 8, and line 0 as line
; 143 asked for it.

line:   push af
        push hl
        ldh a, [rLY]
        rrca
        rrca
        and 7
        add a, table & $FF
        ld l, a
        ld h, table >> 8
        ld a, [hl]
        ldh [rSCX], a
        pop hl
        pop af
        reti

        .align 16
table:  .byte 0, 1, 2, 3, 3, 2, 1, 0

        .include "lib.asm"
