; primes.asm: prints the primes below 256, found with the sieve of Eratosthenes
;
;   lathe run machines/quad8/programs/primes.asm
;
; The idea: write down the numbers, and for each one that is not crossed out cross
; out its multiples. Only the odd ones are written down, 2i + 1 at offset i, so
; there are 128 of them, half a page. That makes the end easy to notice on a
; machine that only compares with zero: an offset past the end has bit 7 set, so it
; is negative, and `skipl` knows.
;
; From one odd multiple of p to the next it is 2p, which is p offsets.
;
;   a        the offset i
;   b        the number p = 2i + 1; otherwise scratch
;   c        offset of a multiple
;   d        addresses
;   page     the sieve, all the time
;
; expect: output
; | 2 3 5 7 11 13 17 19 23 29 31 37
; | 41 43 47 53 59 61 67 71 73 79 83 89
; | 97 101 103 107 109 113 127 131 137 139 149 151
; | 157 163 167 173 179 181 191 193 197 199 211 223
; | 227 229 233 239 241 251

.machine quad8
.include "macros.asm"

SMALL   = 8                             ; offset of 17: a number below 256 that is not
                                        ; prime has a factor below 16
IN_LINE = 12
STACK   = 0x1000

        stack_at STACK
        setpage sieve
        li      a, 2                    ; the even one
        farcall put_dec
        li      a, 1                    ; offset 1 is number 3

number: load    b, [a]
        jnz     b, onward               ; crossed out
        push    a
        call    show
        pop     a
        li      b, SMALL
        sub     b, a                    ; positive as long as a is small enough
        dec     b
        jl      b, onward

        mov     b, a                    ; p = 2i + 1
        add     b, a
        inc     b
        mov     c, a
cross:  add     c, b
        jl      c, onward               ; past the end
        store   b, [c]                  ; anything but 0 crosses out
        goto    cross

onward: inc     a
        jge     a, number
        farcall newline
        halt

; show: prints the number at offset a, and a space or the end of the line before it.

show:   push    c
        get     b, in_line
        dec     b
        put     b, in_line
        li      c, ' '
        jnz     b, .same
        li      b, IN_LINE
        put     b, in_line
        li      c, '\n'
.same:  out     c
        add     a, a
        inc     a
        farcall put_dec
        pop     c
        ret

.include "lib.asm"

.org 0x0800
sieve:  .space  128
in_line:
        .byte   IN_LINE                 ; places left in this line
