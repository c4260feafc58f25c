; muldiv.asm: multiplies and divides numbers of 16 bits
;
;   lathe run machines/z80/programs/muldiv.asm
;
; The idea: `add hl, hl` and `adc hl, hl` shift 16 bits to the left, and `ex de, hl`
; makes 32 of them. Multiplying adds where a bit comes out, dividing subtracts with
; `sbc hl, de` where it can and puts a bit in.
;
; expect: output "1234 * 53 = 65402\n65402 / 17 = 3847 rest 3\n"

.machine z80

        .org $100
        .entry main

main:   ld sp, 0
        ld hl, first
        call puts
        ld bc, 1234
        ld de, 53
        call mul
        push hl
        call put_dec
        call newline
        ld hl, second
        call puts
        pop bc
        ld de, 17
        call div
        push hl
        ld h, b
        ld l, c
        call put_dec
        ld hl, rest
        call puts
        pop hl
        call put_dec
        call newline
        halt

; mul: hl = bc * de. Changes a, de.

mul:    ld hl, 0
        ld a, 16
.bit:   add hl, hl
        ex de, hl
        add hl, hl              ; the next bit of the factor
        ex de, hl
        jr nc, .none
        add hl, bc
.none:  dec a
        jr nz, .bit
        ret

; div: bc = bc / de, hl = bc % de. Changes a.

div:    ld hl, 0
        ld a, 16
.bit:   sla c
        rl b
        adc hl, hl
        sbc hl, de              ; the carry is 0: hl was below de
        jr nc, .fits
        add hl, de
        jr .next
.fits:  inc c
.next:  dec a
        jr nz, .bit
        ret

first:  .asciiz "1234 * 53 = "
second: .asciiz "65402 / 17 = "
rest:   .asciiz " rest "

        .include "lib.asm"
