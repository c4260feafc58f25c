; lib.asm: a small library for quad8
;
; Include it at the end of a program. It begins a page of its own and is reached
; with `farcall` (see macros.asm, which also states the agreement): arguments and
; results in a and b; c and d are lost; `page` is left alone, since no routine has
; variables in memory. What four registers cannot hold, the stack does.
;
;   puts       writes the text at page:a, up to its zero byte
;   newline    ends the line; keeps a and b
;   put_dec    writes a as a decimal number, 0 to 255
;   get_dec    reads a decimal number: a = the number, b = the character after it
;   multiply   a = a * b, the low eight bits
;   divide     a = a / b, b = the remainder, for b from 1 to 128
;   half       a = a / 2, the shift to the right that quad8 does not have
;   compare    a = 1, 0 or -1 as a is above, equal to or below b, unsigned

.if !defined(MACROS)
        .include "macros.asm"
.endif

.align 256

; puts: the text at page:a. Afterwards a is just behind its zero byte.

puts:   push    c
.next:  load    b, [a]
        inc     a
        jz      b, .done
        out     b
        goto    .next
.done:  farret

newline:
        push    c
        li      c, '\n'
        out     c
        farret

; put_dec: a in decimal. Division by ten gives the digits in the wrong order, last
; one first; the stack turns them round. The zero below them marks the end.

put_dec:
        push    c
        clr     b
        push    b
.next:  li      b, 10
        call    quotient                ; b = the last digit, a = what is before it
        li      d, '0'
        add     b, d
        push    b
        jnz     a, .next
.write: pop     b
        jz      b, .done
        out     b
        goto    .write
.done:  farret

; get_dec: reads digits until something else comes: a = the number (modulo 256),
; b = that other character, 0 at the end of the input.

get_dec:
        push    c
        clr     a
.next:  in      b
        mov     c, b                    ; is it a digit?
        li      d, '0'
        sub     c, d
        jl      c, .other               ; below '0'
        li      d, 10
        sub     c, d
        jge     c, .other               ; above '9'
        li      d, '0'
        sub     b, d
        add     a, a                    ; a = 10a + b, and 10a is 2a + 8a
        add     b, a
        add     a, a
        add     a, a
        add     a, b
        goto    .next
.other: farret

; divide: see `quotient`, which does it.

divide: push    c
        call    quotient
        farret

; quotient: a = a / b, b = the remainder: counts how often b can be taken away. A
; near routine, for use inside this page. As long as a is 128 or more, b fits for
; certain; below that, a sign bit tells when it no longer did.

quotient:
        push    c
        clr     c
.big:   jge     a, .small
        sub     a, b
        inc     c
        goto    .big
.small: sub     a, b
        jl      a, .over
        inc     c
        goto    .small
.over:  add     b, a                    ; once too often: a + b is the remainder
        mov     a, c
        pop     c
        ret

.align 256

; multiply: a = a * b. For each bit of b from the left: double what we have, and
; if the bit is 1, add a. `skipge` sees the leftmost bit, and the addition it may
; skip is one byte, so there is nothing to jump over: eight times four bytes.

multiply:
        push    c
        clr     c
        .rept   8
        add     c, c
        skipge  b
        add     c, a
        add     b, b                    ; the next bit moves to the left end
        .endr
        mov     a, c
        farret

; half: a = a / 2. The upper seven bits, one after the other, move over into c
; from the left; the eighth stays behind.

half:   push    c
        clr     c
        .rept   7
        add     c, c
        skipge  a
        inc     c
        add     a, a
        .endr
        mov     a, c
        farret

; compare: a = 1, 0 or -1 as a is above, equal to or below b. The sign of a - b
; says which is smaller, except when they are so far apart that it overflows; that
; can only be when their own signs differ, and then bit 7 alone decides.

compare:
        push    c
        mov     c, a
        sub     c, b
        jz      c, .equal
        jl      a, .a_high
        jl      b, .below               ; a under 128, b not
        jl      c, .below
.above: clr     a
        inc     a
        farret
.a_high:
        jge     b, .above               ; b under 128, a not
        jge     c, .above
.below: clr     a
        dec     a
        farret
.equal: clr     a
        farret
