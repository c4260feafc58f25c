; bits.asm: single bits of the memory
;
;   lathe run machines/i8051/programs/bits.asm
;
; The idea: the cells 0x20 to 0x2F are also 128 bits, and so are some of the special function
; registers. A full adder is made of the carry and bits alone: it adds two numbers of four bits
; in the cells 0x20 and 0x21, bit by bit.
;
; expect: output "5 + 6 = 11\n"

.machine i8051

LEFT    = 0x00                  ; the lowest bit of the cell 0x20
RIGHT   = 0x08                  ; the lowest bit of the cell 0x21
SUM     = 0x10                  ; the lowest bit of the cell 0x22
CARRY   = 0x18                  ; the lowest bit of the cell 0x23
HALF    = 0x19

; One bit of the sum: the exclusive or of three bits; two of them make a carry.

        .macro adder at
        mov c, LEFT + at
        anl c, /(RIGHT + at)
        mov HALF, c
        mov c, RIGHT + at
        anl c, /(LEFT + at)
        orl c, HALF
        mov HALF, c             ; exactly one of the two
        jnb HALF, ._even
        mov c, CARRY            ; the sum is the opposite of the carry, which stays
        cpl c
        mov SUM + at, c
        sjmp ._done
._even: mov c, CARRY            ; the sum is the carry, and the next carry is either bit
        mov SUM + at, c
        mov c, LEFT + at
        mov CARRY, c
._done:
        .endm

main:   mov 0x20, #5
        mov 0x21, #6
        clr CARRY
        adder 0
        adder 1
        adder 2
        adder 3
        mov c, CARRY
        mov SUM + 4, c
        mov a, 0x20
        acall put_dec
        mov dptr, #plus
        acall puts
        mov a, 0x21
        acall put_dec
        mov dptr, #equals
        acall puts
        mov a, 0x22
        acall put_dec
        acall newline
        sjmp $

plus:   .asciiz " + "
equals: .asciiz " = "

        .include "lib.asm"
