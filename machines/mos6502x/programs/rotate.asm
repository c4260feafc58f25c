; rotate.asm: shows what the combined shifts do
;
;   lathe run machines/mos6502x/programs/rotate.asm
;
; The idea: `slo` shifts a cell and or-s it into a; `sre` shifts and exclusive-or-s. Both
; leave the cell changed as well.
;
; expect: output "83 02\n41 40\n"

.machine mos6502x

        .org $0400
        .entry main

cell    = $10

main:   lda #$81
        sta cell
        slo cell                ; cell = $02, a = $81 | $02
        jsr show
        lda #$81
        sta cell
        lda #$01
        sre cell                ; cell = $40, a = $01 ^ $40
        jsr show
        kil0

show:   jsr put_hex
        lda #' '
        jsr putc
        lda cell
        jsr put_hex
        jmp newline

        .include "lib.asm"
