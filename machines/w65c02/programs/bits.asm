; bits.asm: sets, clears and tests bits of a cell
;
;   lathe run machines/w65c02/programs/bits.asm
;
; The idea: `smb` and `rmb` change one bit, `bbs` and `bbr` branch on one: no mask is needed.
;
; expect: output "10000110\n"

.machine w65c02

        .org $0400
        .entry main

cell    = $10

main:   stz cell
        smb7 cell
        smb3 cell
        smb2 cell
        smb1 cell
        rmb3 cell
        ldx #8
next:   lda #'0'
        bbr7 cell, .zero
        inc a
.zero:  jsr putc
        asl cell
        dex
        bne next
        jsr newline
        stp

        .include "lib.asm"
