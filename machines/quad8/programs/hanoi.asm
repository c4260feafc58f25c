; hanoi.asm: solves the Towers of Hanoi with four discs
;
;   lathe run machines/quad8/programs/hanoi.asm
;
; The idea: to bring n discs from one peg to another, bring the n-1 upper ones to
; the third peg, move the largest, and bring the n-1 back on top of it. Three pegs
; and a number do not fit into the registers left over, so the pegs are in memory
; and change their roles there: swap two, do the smaller task, swap them back. Only
; the way back goes on the stack, one byte for each call, since `hanoi` calls itself
; within its page.
;
;   a        how many discs
;   b        scratch
;   c        the way back
;   d        addresses
;   page     the pegs and the texts, all the time

.machine quad8
.include "macros.asm"

DISCS   = 4
STACK   = 0x1000

        stack_at STACK
        setpage data
        li      a, DISCS
        call    hanoi
        halt

; hanoi: brings a discs from peg `from` to peg `to`. Keeps a.

hanoi:  skipnz  a
        ret                             ; no discs, nothing to do
        push    c
        dec     a
        call    swap_to_via
        call    hanoi                   ; the upper discs out of the way
        call    swap_to_via
        inc     a
        call    move                    ; the largest
        dec     a
        call    swap_from_via
        call    hanoi                   ; the upper discs on top again
        call    swap_from_via
        inc     a
        pop     c
        ret

; The swaps: each byte travels over the stack, so only b is needed.

.macro swap one, two
        get     b, one
        push    b
        get     b, two
        put     b, one
        pop     b
        put     b, two
.endm

swap_to_via:
        swap    to, via
        ret

swap_from_via:
        swap    from, via
        ret

; move: tells about moving disc a. Keeps a.

move:   push    c
        push    a
        push    a
        li      a, disc_text
        farcall puts
        pop     a
        farcall put_dec
        li      a, from_text
        farcall puts
        get     b, from
        out     b
        li      a, to_text
        farcall puts
        get     b, to
        out     b
        farcall newline
        pop     a
        pop     c
        ret

.include "lib.asm"

.org 0x0800
data:
from:   .byte   'A'
to:     .byte   'C'
via:    .byte   'B'
disc_text:
        .asciiz "disc "
from_text:
        .asciiz ": "
to_text:
        .asciiz " to "
