; keys.asm: which keys are down
;
;   lathe run machines/gameboy/programs/keys.asm --keys 5
;
; The idea: rP1 shows four keys at a time, as zeros: the arrows where bit 4 is
; 0, the buttons where bit 5 is. This looks until one is down, and writes its
; number: right, left, up, down are 0 to 3, and A, B, select, start are 4 to 7.
;
;   b    what is down, one bit for each key
;   c    the number
;
; keys: 5
; expect: output "5\n"

.machine gameboy

        .org $150
        .entry main

main:   ld a, %00100000         ; the arrows
        ldh [rP1], a
        ldh a, [rP1]
        cpl
        and $0F
        ld b, a
        ld a, %00010000         ; the buttons
        ldh [rP1], a
        ldh a, [rP1]
        cpl
        and $0F
        swap a
        or b
        jr z, main
        ld c, '0' - 1
.find:  inc c
        rrca
        jr nc, .find
        ld a, c
        call putc
        ld a, '\n'
        call putc
        stop

        .include "lib.asm"
