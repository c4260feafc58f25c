; fibonacci.asm: prints every Fibonacci number below 65536
;
;   lathe run machines/hex8/programs/fibonacci.asm
;
; The idea: 16-bit numbers on an 8-bit machine without a carry flag. When two
; bytes are added and the sum is smaller than one of them, it has wrapped: that
; comparison is the carry. It also tells us when to stop, because a carry out of
; the high byte means that the next number no longer fits.
;
;   r0:r1    this number
;   r2:r3    the next one
;   r4:r5    their sum
;   r6       carry out of the low byte, then out of the high byte
;   r7       another carry, see below

.machine hex8

        loadimm r3, 1                   ; r0:r1 is 0, as everything at reset

next:   call    put_dec16
        call    newline

        mov     r4, r0                  ; r4:r5 = r0:r1 + r2:r3
        mov     r5, r1
        add     r5, r3
        mov     r6, r5
        lt      r6, r3                  ; the carry into the high byte
        add     r4, r6
        mov     r7, r4
        lt      r7, r6                  ; adding that carry may itself wrap,
        add     r4, r2
        mov     r6, r4
        lt      r6, r2                  ; or adding the other number may
        or      r6, r7

        mov     r0, r2                  ; move on by one
        mov     r1, r3
        mov     r2, r4
        mov     r3, r5
        xorimm  r6, r6, 1
        jmpo    r6, next                ; no carry: the sum is a good number

        call    put_dec16               ; the last that fits
        call    newline
        jmp     $

.include "lib.asm"
