; fibonacci.asm: prints the first hundred Fibonacci numbers, all digits of them
;
;   lathe run machines/quad8/programs/fibonacci.asm
;
; The idea: eight bits hold nothing beyond 233, but a page holds 256 decimal
; digits. Each of two numbers has a page of its own, the last digit first, so that
; digits which belong together have the same offset and only `page` changes. The
; two numbers take turns: x += y makes x the newest, then y += x makes y the newest.
;
; There is no carry, but a sum of two digits gives itself away: take 10 from it, and
; it is negative unless there was a carry. Two skips over one byte each settle it
; without a jump.
;
;   a        which digit
;   b        the digit itself
;   c        carry into it; in `show`, the way back
;   d        pages and addresses
;   stack    rounds to go

.machine quad8
.include "macros.asm"

DIGITS  = 21                            ; the hundredth has so many
ROUNDS  = 50                            ; two numbers each
STACK   = 0x1000

; accumulate: the number at `into` += the number at `from`.

.macro accumulate into, from
        clr     a
        clr     c
.digit: setpage from
        load    b, [a]
        add     b, c
        setpage into
        load    d, [a]
        add     b, d                    ; 0 to 19
        li      d, 10
        sub     b, d
        clr     c
        skipl   b                       ; not negative:
        inc     c                       ; a carry
        skipge  b                       ; negative:
        add     b, d                    ; d is still 10
        store   b, [a]
        inc     a
        li      d, DIGITS
        sub     d, a
        li      b, .digit               ; d is in use, so b takes the address
        skipz   d
        jmp     b
.endm

        stack_at STACK
        setpage x
        li      a, x
        li      b, 1                    ; x = 1, y = 0: the numbers before the first
        store   b, [a]
        li      b, ROUNDS

round:  push    b
        accumulate x, y
        call    show
        accumulate y, x
        call    show
        pop     b
        dec     b
        jnz     b, round
        halt

; show: prints the number in this page.

show:   li      a, DIGITS
.zeros: dec     a                       ; leading zeros are not printed
        load    b, [a]
        jz      b, .zeros
.digit: load    b, [a]
        li      d, '0'
        add     b, d
        out     b
        dec     a
        jge     a, .digit               ; -1 is past the last one
        li      b, '\n'
        out     b
        ret

.org 0x0200
x:      .space  DIGITS
.org 0x0300
y:      .space  DIGITS
