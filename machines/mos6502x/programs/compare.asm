; compare.asm: uses `isc` as a counter that subtracts
;
;   lathe run machines/mos6502x/programs/compare.asm
;
; The idea: `isc` adds one to a cell and subtracts it from a. Summing 1 to 10 this way
; needs no other instruction in the loop but the branch.
;
; expect: output "55\n"

.machine mos6502x

        .org $0400
        .entry main

cell    = $10

main:   lda #0
        sta cell
        ldx #10
        lda #100
        sec
next:   isc cell                ; a = 100 - 1 - 2 - 3 …
        dex
        bne next
        sta cell
        lda #100
        sec
        sbc cell
        jsr put_dec
        jsr newline
        kil0

        .include "lib.asm"
