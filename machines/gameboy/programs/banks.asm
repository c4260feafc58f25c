; banks.asm: calls routines that lie at the same address, in three banks
;
;   lathe run machines/gameboy/programs/banks.asm
;
; The idea: a cartridge with an MBC1 shows one of its banks at 4000. What is
; written to 2000 chooses it. So three routines can lie there, one in each bank;
; the assembler lays programs into bank 0 and 1, so these are bytes of the
; memory `rom`. Bank 0 cannot be chosen: 1 comes in its place. Only two bits of
; the number count, because there are four banks.
;
;   b    the bank
;
; expect: output "ABCACB\n"
; expect: page = 2

.machine gameboy

        .org $147
        .byte 1                 ; a cartridge with an MBC1
        .byte 1                 ; and four banks

        .org $150
        .entry main

main:   ld b, 1
        call far
        inc b
        call far
        inc b
        call far
        ld b, 0                 ; is 1
        call far
        ld b, 7                 ; is 3
        call far
        ld b, 10                ; is 2
        call far
        ld a, '\n'
        call putc
        stop

; far: calls the routine in bank b.

far:    ld a, b
        ld [$2000], a
        jp $4000

        .org $4000              ; bank 1
        ld a, 'A'
        jp putc

        .section rom
        .org 0x8000             ; bank 2
        .byte $3E, 'B'          ; ld a, 'B'
        .byte $C3, putc & $FF, putc >> 8
        .org 0xC000             ; bank 3
        .byte $3E, 'C'          ; ld a, 'C'
        .byte $C3, putc & $FF, putc >> 8

        .section ram
        .org $1000
        .include "lib.asm"
