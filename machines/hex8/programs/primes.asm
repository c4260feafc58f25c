; primes.asm: prints the primes below 1024, found with the sieve of Eratosthenes
;
;   lathe run machines/hex8/programs/primes.asm
;
; The idea: write down all numbers; the first that is not crossed out is a prime;
; cross out its multiples; go on. One byte of memory per number says whether it
; is crossed out, and the number itself is nearly the address of that byte: the
; sieve starts at 0x4000, so number 0x0123 is at 0x4123. "Below 1024" is then a
; question about the high byte alone.
;
;   r0:r1    the number we look at
;   r2:r3    a multiple of it
;   r4       the flag at a number; a truth value
;   r5       the high byte of an address in the sieve
;   r6       primes printed in this line
;   r7       1, to cross out with

.machine hex8
.include "macros.asm"

SIEVE   = 0x4000                        ; one byte per number, 0 as long as it is not crossed out
LIMIT   = 1024
IN_LINE = 16

.assert lo(LIMIT) == 0, "only the high byte is compared"

        loadimm r1, 2                   ; the first prime

number: addimm  r5, r0, hi(SIEVE)
        loadind r4, r5, r1
        jmpo    r4, onward              ; crossed out

        call    show
        neqimm  r4, r0, 0               ; from 256 on, the square is far beyond
        jmpfwdo r4, onward              ; the limit: nothing to cross out
        call    cross

onward: inc16   r0, r1
        ltimm   r4, r0, hi(LIMIT)
        jmpo    r4, number
        call    newline
        jmp     $

; cross: crosses out the multiples of r0:r1, beginning with its square: the
; smaller ones have a smaller factor and went with that.

cross:  push    r0
        push    r1
        mov     r0, r1
        call    mul16                   ; r0:r1 = r1 * r1
        mov     r2, r0
        mov     r3, r1
        pop     r1
        pop     r0
        loadimm r7, 1
.next:  gtimm   r4, r2, hi(LIMIT) - 1
        jmpfwdo r4, .done
        addimm  r5, r2, hi(SIEVE)
        storeind r7, r5, r3
        add16   r2, r3, r0, r1
        jmp     .next
.done:  return

; show: prints r0:r1, with a space or the end of a line before it.

show:   loadimm r4, ' '
        eqimm   r5, r6, 0
        jmpfwdo r5, .first              ; the very first one
        neqimm  r5, r6, IN_LINE
        jmpfwdo r5, .same
        loadimm r4, '\n'
        loadimm r6, 0
.same:  output  r4
.first: inc     r6
        call    put_dec16
        return

.include "lib.asm"
