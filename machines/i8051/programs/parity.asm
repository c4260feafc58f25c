; parity.asm: the parity of bytes
;
;   lathe run machines/i8051/programs/parity.asm
;
; The idea: the lowest bit of PSW is always the parity of the accumulator. Here it becomes the
; eighth bit of each character of a text, as in old transmissions, and then the sum of all
; parities is counted.
;
; expect: output "50 E1 72 69 74 F9 \n2\n"

.machine i8051

main:   mov dptr, #text
        mov r5, #0
next:   clr a
        movc a, @a+dptr
        jz done
        mov c, p
        mov 0xE7, c             ; the highest bit of the accumulator
        push acc
        clr a
        addc a, r5
        mov r5, a
        pop acc
        acall put_hex
        mov a, #' '
        acall putc
        inc dptr
        sjmp next
done:   acall newline
        mov a, r5
        acall put_dec
        acall newline
        sjmp $

text:   .asciiz "Parity"

        .include "lib.asm"
