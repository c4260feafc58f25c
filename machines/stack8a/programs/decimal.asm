.machine stack8a
; decimal.asm: writes a 16-bit number as five decimal digits
;
; No division: the number is poured, bit by bit from the top, into digits that know how to
; double themselves. Doubling a decimal number starts at its last digit: twice the digit,
; plus the carry from the right; if that is more than 9, take off ten and carry to the left.
; The machine's own carry does the carrying. It comes in from the number's top bit, `slc`
; doubles the digit and adds it, and `stc` puts the next one there, a truth value, since
; "more than 9" is one already. Ten is taken off without a jump, by the same truth value.
;
;   lathe run machines/stack8a/programs/decimal.asm
;
; data 0x00 0x01    the number, low byte first, put there with the program (and used up)
; data 0x10 … 0x14  its digits as characters
;
; expect: data[0x10] = 53, 52, 51, 50, 49
; expect: sp = 0

LOW     = 0
HIGH    = 1
DIGITS  = 0x10
COUNT   = 5

        .include "lib.asm"

        psh 16                  ; bits still to come
bit:    get LOW                 ; shift the number: its top bit goes into carry, and what
        slc 1                   ; comes in at the bottom does not live to come out
        put LOW
        get HIGH
        slc 1
        put HIGH

        psh DIGITS + COUNT - 1  ; bits p: from the last digit to the first
digit:  dup
        lda
        slc 1                   ; twice the digit, and the carry
        dup
        x9
        igt                     ; bits p d large?
        swp
        ldo 1
        xA
        and                     ; bits p large? d, 10 or 0
        sub
        ldo 2
        sta                     ; bits p large?
        stc                     ; now that `sub` has had its say
        dec                     ; neither this …
        dup
        psh DIGITS - 1
        ieq
        unless digit            ; … nor this changes the carry
        drp
        dec
        dup
        nez
        branch bit
        drp

        psh DIGITS              ; digits to characters
text:   dup
        lda
        psh '0'
        add
        ldo 1
        sta
        inc
        dup
        psh DIGITS + COUNT
        ilt
        branch text
        drp
        htl

        .data
        .le16 54321
