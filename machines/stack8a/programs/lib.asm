.machine stack8a
; lib.asm: jumps, choices and arithmetic for stack8a
;
; There are 256 bytes for a program, so nothing here takes any until it is used: all of it
; is macros. The first kind is put in wherever it is named. The second kind holds a whole
; subroutine: a program that wants `divide` says `call divide` as often as it likes, and
; once, behind its `htl`, `divide_here`.
;
; The machine has no conditional jump. It has comparisons that leave FF for true and 00 for
; false, and `sti`, which goes wherever the top of the stack says. So a jump on a condition
; is arithmetic: (there ^ here) and the truth, ^ here, is `there` or `here`.
;
; Comments such as ( a b -- c ) tell what is on the stack before and after, the top last.
; Cells of data memory are named by their address.

; ── Going elsewhere ──────────────────────────────────────────────────────────────────────

.macro jump target              ; ( -- )
        psh target
        sti
.endm

.macro branch target            ; ( truth -- ) goes there if true
        psh target ^ .on
        and
        psh .on
        xor
        sti
.on:
.endm

.macro unless target            ; ( truth -- ) goes there if false
        psh target ^ .on
        and
        psh target              ; the same, with the two ways exchanged
        xor
        sti
.on:
.endm

.macro call routine             ; ( -- way back ) leaves the way back on top
        psh .back
        psh routine
        sti
.back:
.endm

.macro return                   ; ( way back -- )
        sti
.endm

; ── Choosing ─────────────────────────────────────────────────────────────────────────────

.macro select                   ; ( a b truth -- a if true, else b ) no jump at all
        ldo 2
        ldo 2
        xor                     ; the bits in which a and b differ
        and                     ; … all of them, or none
        xor                     ; b with these bits turned over
        swp
        drp
.endm

; ── Variables ────────────────────────────────────────────────────────────────────────────

.macro get cell                 ; ( -- value )
        psh cell
        lda
.endm

.macro put cell                 ; ( value -- )
        psh cell
        sta
.endm

; ── Subroutines ──────────────────────────────────────────────────────────────────────────

; multiply ( a b -- a × b ), the low 8 bits. For each bit of a, from the lowest: if it is 1,
; add b; then double b. The bit becomes the mask by shifting it up to the sign and back.
.macro multiply_here
multiply:
        x0                      ; a b back product
.bit:   ldo 3
        shl 7
        sra 7                   ; FF if the lowest bit of a is 1, else 00
        ldo 3
        and
        add                     ; product + b, or + 0
        ldo 2
        shl 1
        sto 2                   ; b = b × 2
        ldo 3
        shr 1
        dup
        sto 4                   ; a = a / 2
        nez
        branch .bit             ; until nothing of a is left
        sto 2                   ; product b back
        swp
        drp
        return
.endm

; divide ( n d -- n / d, n mod d ), in the way of school: bring down the next bit of n, see
; whether d fits, note a 1 or a 0. The note is kept in `carry` and goes into n from the
; right while n goes out at the left: after eight turns n is the quotient. Nothing on the
; way from one turn to the next (`dec`, the jump) changes the carry. n / 0 is 255, n mod 0
; is n.
.macro divide_here
divide: x0                      ; n d back rest
        x8                      ; n d back rest turns
.bit:   ldo 4
        slc 1
        sto 4                   ; n: last answer in at the right, next bit into carry
        ldo 1
        slc 1                   ; the rest with that bit, nine bits in all
        dup
        ldo 5
        ilt
        not
        ldc
        oor                     ; n d back rest turns new fits?
        dup
        ldo 6
        and                     ; d, or 0
        ldo 2
        swp
        sub                     ; this changes the carry, so …
        sto 3                   ; n d back rest turns new fits?
        stc                     ; … the answer goes there now
        drp
        dec
        dup
        nez
        branch .bit
        drp
        ldo 3
        slc 1                   ; the last answer
        sto 3                   ; quotient d back rest
        sto 1                   ; quotient rest back
        return
.endm
