; decimal.asm: counts in decimal digits, two in each byte
;
;   lathe run machines/i8051/programs/decimal.asm
;
; The idea: da corrects a sum of decimal digits, and its carry goes on to the next byte. The powers
; of two up to the sixteenth, added up that way.
;
; expect: output "000001 000002 000004 000008 000016 000032 000064 000128 000256 000512 001024 002048 004096 008192 016384 032768 065536 \n"

.machine i8051

main:   mov r1, #1              ; the number, lowest digits first
        mov r2, #0
        mov r3, #0
        mov r7, #17
next:   mov a, r3
        acall put_hex
        mov a, r2
        acall put_hex
        mov a, r1
        acall put_hex
        mov a, #' '
        acall putc
        mov a, r1
        add a, r1
        da a
        mov r1, a
        mov a, r2
        addc a, r2
        da a
        mov r2, a
        mov a, r3
        addc a, r3
        da a
        mov r3, a
        djnz r7, next
        acall newline
        sjmp $

        .include "lib.asm"
