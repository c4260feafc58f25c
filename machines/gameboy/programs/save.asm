; save.asm: memory on the cartridge
;
;   lathe run machines/gameboy/programs/save.asm
;
; The idea: the cartridge has four banks of memory, one of which is at A000. It
; can be reached while 0A is in the register at 0000; otherwise there are only
; ones. In mode 1, the register at 4000 chooses the bank.
;
;   b    the bank
;
; expect: output "wxyz?\n"
; expect: save[0] = 119
; expect: save[0x2000] = 120
; expect: save[0x4000] = 121
; expect: save[0x6000] = 122

.machine gameboy

        .org $147
        .byte 3, 1, 3           ; MBC1 with memory: four banks of either

        .org $150
        .entry main

main:   ld a, $0A
        ld [$0000], a           ; it can be reached
        ld a, 1
        ld [$6000], a           ; mode 1
        ld b, 3
.fill:  ld a, b
        ld [$4000], a
        add a, 'w'
        ld [$A000], a
        dec b
        bit 7, b
        jr z, .fill
        ld b, 0
.show:  ld a, b
        ld [$4000], a
        ld a, [$A000]
        call putc
        inc b
        bit 2, b
        jr z, .show
        xor a
        ld [$0000], a           ; it cannot be reached any more
        ld a, 5
        ld [$A000], a
        ld a, [$A000]           ; ones
        sub $FF - '?'
        call putc
        ld a, '\n'
        call putc
        stop

        .include "lib.asm"
