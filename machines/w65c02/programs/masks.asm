; masks.asm: changes many bits at once
;
;   lathe run machines/w65c02/programs/masks.asm
;
; The idea: `tsb` sets the bits of a in a cell and `trb` clears them; z tells whether any was
; set before.
;
; expect: output "FF F0 z0\n"

.machine w65c02

        .org $0400
        .entry main

cell    = $10

main:   lda #$F0
        sta cell
        lda #$0F
        tsb cell                ; none of them was set: z = 1
        lda cell
        jsr put_hex
        lda #' '
        jsr putc
        lda #$0F
        trb cell                ; all of them were set: z = 0
        php
        lda cell
        jsr put_hex
        lda #' '
        jsr putc
        lda #'z'
        jsr putc
        lda #'0'
        plp
        bne .write
        inc a
.write: jsr putc
        jsr newline
        stp

        .include "lib.asm"
