; sort.asm: sorts a row of numbers and prints it before and after
;
;   lathe run machines/quad8/programs/sort.asm
;
; The idea: gnome sort. A garden gnome walks along a row of flower pots. If the pot
; beside him and the one behind him are in order, he steps forward; if not, he swaps
; them and steps back. At the end of the row all are in order. It needs one place in
; the row and no second loop, which suits a machine with four registers.
;
; The row begins at offset 1. The 0 at offset 0 is smaller than any number, so the
; gnome never steps off the left end: no test is needed there. The numbers are below
; 128, so the sign of a difference says which is smaller.
;
;   a        where the gnome stands
;   b        the pot beside him
;   c        the pot behind him; differences
;   d        addresses
;   page     the row, all the time
;
; expect: output
; | before: 53 8 91 27 127 14 66 3 72 40 19 99 1 85 33 60
; | after:  1 3 8 14 19 27 33 40 53 60 66 72 85 91 99 127

.machine quad8
.include "macros.asm"

STACK   = 0x1000

        stack_at STACK
        setpage row
        li      a, before
        call    show

        li      a, row + 1
gnome:  load    b, [a]
        dec     a
        load    c, [a]
        inc     a
        sub     c, b                    ; behind - beside: in order if 0 or less,
        dec     c                       ; or, less one, if negative
        jl      c, forward
        inc     c
        add     c, b                    ; the pot behind again
        store   c, [a]
        dec     a                       ; a step back
        store   b, [a]
        goto    gnome
forward:
        inc     a
        li      c, end
        sub     c, a
        jnz     c, gnome

        li      a, after
        call    show
        halt

; show: prints the text at a, then the row.

show:   push    c
        farcall puts
        li      a, row
.next:  li      b, ' '
        out     b
        push    a
        load    a, [a]
        farcall put_dec
        pop     a
        inc     a
        li      c, end
        sub     c, a
        jnz     c, .next
        farcall newline
        pop     c
        ret

.include "lib.asm"

.org 0x0800
        .byte   0                       ; smaller than all
row:    .byte   53, 8, 91, 27, 127, 14, 66, 3, 72, 40, 19, 99, 1, 85, 33, 60
end:
before: .asciiz "before:"
after:  .asciiz "after: "
