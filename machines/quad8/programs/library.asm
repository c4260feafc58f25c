; library.asm: a tour of lib.asm
;
;   lathe run machines/quad8/programs/library.asm
;
; Calls each routine of the library and says what came out. Read it next to lib.asm
; to see how the routines are used. The numbers to read come from the input, as
; "23 11": try others. (The input may also be empty: then they are 0.)
;
;   a, b     arguments and results, as the library wants them
;   page     the texts, all the time
;   stack    the two numbers, while a and b are busy
;
; input: "23 11\n"
; expect: output
; | A tour of the library
; | first number:  23
; | second number: 11
; | product:       253
; | quotient:      2
; | remainder:     1
; | the first is larger
; | half of first: 11

.machine quad8
.include "macros.asm"

STACK   = 0x1000

.macro say text                         ; the texts are in `page` already
        li      a, text
        farcall puts
.endm

.macro say_number text
        push    a
        say     text
        pop     a
        farcall put_dec
        farcall newline
.endm

        stack_at STACK
        setpage texts
        say     title
        farcall get_dec                 ; a number, and the space after it
        push    a
        say_number first
        farcall get_dec                 ; another one
        push    a
        say_number second

        pop     b                       ; both back, and kept on the stack
        pop     a
        push    a
        push    b
        farcall multiply
        say_number product

        li      c, hi(more)             ; this page is nearly full: on to another
        li      d, more
        jmpfar  d

.include "lib.asm"

.align 256
more:   pop     b
        pop     a
        push    a
        push    b
        jz      b, no_division          ; nothing can be divided by 0,
        jl      b, no_division          ; and 128 or more is too much for `divide`
        farcall divide
        push    b
        say_number quotient_text
        pop     a
        say_number remainder
no_division:
        pop     b
        pop     a
        push    a
        farcall compare
        jz      a, same
        jl      a, below
        say     is_above
        goto    halve
below:  say     is_below
        goto    halve
same:   say     is_same
halve:  pop     a
        farcall half
        say_number half_text
        halt

.align 256
texts:
title:  .asciiz "A tour of the library\n"
first:  .asciiz "first number:  "
second: .asciiz "second number: "
product:
        .asciiz "product:       "
quotient_text:
        .asciiz "quotient:      "
remainder:
        .asciiz "remainder:     "
half_text:
        .asciiz "half of first: "
is_above:
        .asciiz "the first is larger\n"
is_below:
        .asciiz "the second is larger\n"
is_same:
        .asciiz "they are the same\n"
.assert hi(texts) == hi($ - 1), "the texts cross a page"
