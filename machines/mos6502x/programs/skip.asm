; skip.asm: jumps over instructions with `nop`
;
;   lathe run machines/mos6502x/programs/skip.asm
;
; The idea: a `nop` with an operand passes over one or two bytes. A byte of $0C before a
; load of two bytes hides it; programs in small ROMs enter a routine at several places so.
;
; expect: output "ABC\n"

.machine mos6502x

        .org $0400
        .entry main

main:   jsr first
        jsr second
        jsr third
        jsr newline
        kil0

first:  lda #'A'
        .byte $0C               ; nop0 with the next load as its operand
second: lda #'B'
        .byte $0C
third:  lda #'C'
        jmp putc

        .include "lib.asm"
