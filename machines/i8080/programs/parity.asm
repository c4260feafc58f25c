; parity.asm: counts the bits of numbers, and compares with the parity flag
;
;   lathe run machines/i8080/programs/parity.asm
;
; The idea: `ora a` sets the parity flag, which is 1 for an even number of bits. A loop
; of `add a` counts the same bits by their carries.
;
; expect: output "00 0 even\n01 1 odd\n5A 4 even\n7F 7 odd\nFF 8 even\n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi d, numbers
        mvi c, 5
next:   ldax d
        call put_hex
        mvi a, ' '
        call putc
        ldax d
        call bits
        mov l, b
        mvi h, 0
        call put_dec
        lxi h, odd
        ldax d
        ora a
        jpo .odd
        lxi h, even
.odd:   call puts
        inx d
        dcr c
        jnz next
        hlt

; bits: b = how many bits of a are 1. Changes a.

bits:   mvi b, 0
.next:  add a
        jnc .zero
        inr b
.zero:  ora a
        jnz .next
        ret

even:   .asciiz " even\n"
odd:    .asciiz " odd\n"
numbers:
        db 0x00, 0x01, 0x5A, 0x7F, 0xFF

        .include "lib.asm"
