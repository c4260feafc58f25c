.machine duo16
; e.asm: two hundred digits of e = 2.71828…
;
; e = 2 + 1/2! + 1/3! + 1/4! + … can be read as a number in a strange system of digits: the
; places after the point are worth 1/2!, 1/3!, 1/4!, …, and every digit is 1. To turn it
; into decimal, multiply by ten, again and again: start at the last place, keep what is
; below its base k, carry the rest. What comes out at the front is the next decimal digit.
; No number here ever needs more than 16 bits, however many digits one wants.
;
;   lathe run machines/duo16/programs/e.asm
;
; r1  ten times the digit, plus carry    r2  its remainder, the new digit
; r6  the base k of this place           r7  the carry
; r8  digits still to print              r9  10          r10  1
;
; expect: output
; | e = 2.
; | 71828182845904523536028747135266249775724709369995
; | 95749669676277240766303535475945713821785251664274
; | 27466391932003059921817413596629043572900334295260
; | 59563073813232862794349076323382988075319525101901

DIGITS  = 200
PLACES  = 132                   ; 132! has more than 220 decimal digits: exact enough

        .include "lib.asm"

main:   ldi   r9, 10
        ldi   r10, 1
        ldi   r1, beginning
        call  puts
        ldi   r8, DIGITS

digit:  ldi   r6, PLACES
        ldi   r7, 0
place:  load  r1l, r6, places   ; one byte each: a digit in base k is below k
        mov   r1h, r0b
        mul   r1, r2, r1, r9
        add   r1, r1, r7
        div   r7, r2, r1, r6    ; carry and new digit at once
        store r6, places, r2l
        sub   r6, r6, r10
        cmp   r6, r10
        ja    place             ; the last base is 2

        addi  r7, '0'
        store r0, CONSOLE, r7b
        sub   r8, r8, r10
        ldi   r2, 50
        div   r1, r2, r8, r2
        cmp   r2, r0
        jnz   same
        emit  '\n'              ; fifty to a line
same:   cmp   r8, r0
        jnz   digit
        halt

beginning:
        .asciiz "e = 2.\n"
places: .fill PLACES + 1, 1     ; places 0 and 1 are not used
