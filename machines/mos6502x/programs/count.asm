; count.asm: counts down with one instruction for two
;
;   lathe run machines/mos6502x/programs/count.asm
;
; The idea: `dcp` takes one from a cell and compares it with a, where the documented
; way is `dec` and `cmp`. The loop ends when the cell is equal to a.
;
; expect: output "9 8 7 6 5 4 3 2 1 \n"

.machine mos6502x

        .org $0400
        .entry main

cell    = $10

main:   lda #10
        sta cell
next:   lda #0
        dcp cell
        beq done
        lda cell
        clc
        adc #'0'
        jsr putc
        lda #' '
        jsr putc
        jmp next
done:   jsr newline
        kil0

        .include "lib.asm"
