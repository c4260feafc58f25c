; coroutines.asm: two routines that are each other's caller
;
;   lathe run machines/quad8/programs/coroutines.asm
;
; The example is Donald Knuth's, from The Art of Computer Programming (1.4.2). A text
; is in a code: a digit n means that the next character stands there n + 1 times. It
; is to be decoded and printed in groups of three.
;
; The idea: there are two loops, one that decodes and one that groups, and neither
; wants to be the subroutine of the other. `jalr d, [d]` lets both be the main
; program: it goes where d says and leaves in d the place where it left. Each of them
; goes on just where it was, so the grouper needs no counter: "the second of three" is
; a place in its code.
;
;   a        the character that is handed over
;   b        decoder: where it is in the text
;   c        decoder: how many more times
;   d        where the other one waits
;   stack    whoever needs a register for a moment saves it here, and has taken it
;            back before the other one runs
;
; expect: output "ABB BEE EEE E44 446 66F GZY W22 220 0PQ 999 999 999 R.\n"

.machine quad8
.include "macros.asm"

STACK   = 0x1000

        stack_at STACK
        setpage text
        li      b, text
        li      d, decoder              ; the decoder waits at its beginning,
        push    b                       ; and the grouper starts

; The grouper. It may not change a, b or c, so it borrows b from the stack.

.macro group_one
        jalr    d, [d]                  ; over to the decoder, which brings a
        out     a
        push    b
        li      b, '\n'
        sub     b, a
        skipnz  b
        halt                            ; that was the end of the line
        pop     b
.endm

grouper:
        pop     b
        group_one
        group_one
        group_one
        push    b
        li      b, ' '
        out     b
        li      b, grouper
        jmp     b

; The decoder. It needs d for its own jumps, so the place where the grouper waits is
; on the stack between two characters.

decoder:
        push    d
.next:  load    a, [b]
        inc     b
        mov     c, a                    ; is it a digit?
        li      d, '0'
        sub     c, d
        jl      c, .plain               ; below '0'
        li      d, 10
        sub     c, d
        jge     c, .plain               ; above '9'
        li      d, 10
        add     c, d                    ; the digit: as many more times
        load    a, [b]                  ; the next character, whatever it is
        inc     b
        goto    .hand
.plain: clr     c                       ; no more times
.hand:  pop     d
        jalr    d, [d]                  ; over to the grouper, with a
        push    d
        dec     c
        jge     c, .hand
        goto    .next

.org 0x0100
text:   .ascii  "A2B5E3426FG0ZYW3210PQ89R.\n"
