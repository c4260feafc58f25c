; hello.asm: prints a greeting
;
;   lathe run machines/quad8/programs/hello.asm
;
; The idea: quad8 sees memory through a page of 256 bytes. `page` says which one,
; and a register says where in it. There is no branch either: `skipz c` passes over
; the next byte if c is 0, and that byte is the jump. Together they are "jump if c
; is not 0". The target was put into b before the loop, once.
;
;   a        where we are in the text
;   b        the address of the loop
;   c        the character
;   d        the way back that `jalr` saves, and nobody wants
;
; expect: output "Hello from quad8, one byte at a time!\n"

.machine quad8

        sli     a, hi(text)[7:4]        ; a constant is built from two halves: each
        sli     a, hi(text)[3:0]        ; sli moves a four bits left and adds four
        page    a
        li      a, text                 ; li is those two in one; of a label, it
                                        ; takes the low byte
        li      b, next
        load    c, [a]
next:   out     c
        inc     a
        load    c, [a]
        skipz   c                       ; the zero byte ends the text
        jalr    d, [b]
        halt

.org 0x0200                             ; somewhere else altogether
text:   .asciiz "Hello from quad8, one byte at a time!\n"
