.machine stack8a
; fibonacci.asm: a table of all Fibonacci numbers that fit in 16 bits
;
; Each number takes two cells, the low byte first. `add` adds the low bytes and `adc` the
; high bytes with the carry between them; `inc`, which walks from cell to cell in the
; meantime, leaves the carry alone. And when the high bytes carry, the number is too large:
; `ldc` makes the carry a truth value, and that is what `branch` wants.
;
; The table is all there is: the next number is made of the last two, and the only thing on
; the stack is the address of the first of them.
;
;   lathe run machines/stack8a/programs/fibonacci.asm
;
; data 0x00 … 0x31  F(0) … F(24), two bytes each
;
; expect: data[0x00] = 0, 0, 1, 0, 1, 0, 2, 0, 3, 0, 5, 0, 8, 0, 13, 0, 21, 0, 34, 0, 55, 0, 89, 0, 144, 0
; expect: data[0x1A] = 233, 0, 121, 1, 98, 2, 219, 3, 61, 6, 24, 10, 85, 16, 109, 26, 194, 42, 47, 69, 241, 111, 32, 181, 0, 0
; expect: sp = 0

        .include "lib.asm"

        x1
        put 2                   ; F(0) = 0 is there, F(1) = 1, the high bytes are 0
        x0                      ; p: the address of the older number

next:   dup
        lda                     ; its low byte
        ldo 1
        inc
        inc
        lda                     ; the low byte of the newer one
        add                     ; p low
        ldo 1
        inc
        lda                     ; the same for the high bytes
        ldo 2
        inc
        inc
        inc
        lda
        adc                     ; p low high
        ldc
        branch full             ; more than 16 bits

        ldo 2
        x5
        add
        sta                     ; high to p + 5
        ldo 1
        x4
        add
        sta                     ; low to p + 4
        inc
        inc                     ; p + 2
        jump next

full:   drp
        drp
        drp
        htl
