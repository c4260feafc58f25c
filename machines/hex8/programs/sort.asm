; sort.asm: sorts a row of numbers and prints it before and after
;
;   lathe run machines/hex8/programs/sort.asm
;
; The idea: insertion sort, as one sorts a hand of cards. Take the next card,
; shift every larger card in the hand one place to the right, and put the card
; into the gap. The numbers are bytes and lie within one page, so a place is the
; low byte of an address; the high byte never changes.
;
;   r2:r3    the gap that moves left
;   r4       place of the card we take
;   r5       the card
;   r6       the neighbour on the left of the gap
;   r7       a truth value
;   r8       place of that neighbour
;
; expect: output
; | before: 170 45 75 255 90 2 24 66 128 0 33 127 201 7 75 99
; | after:  0 2 7 24 33 45 66 75 75 90 99 127 128 170 201 255

.machine hex8

        loadimm r2, hi(numbers)

        call    print
        .asciiz "before:"
        call    show

        loadimm r4, lo(numbers) + 1     ; one card is always sorted
card:   loadind r5, r2, r4
        mov     r3, r4
shift:  eqimm   r7, r3, lo(numbers)     ; the gap is at the left end
        jmpfwdo r7, insert
        subimm  r8, r3, 1
        loadind r6, r2, r8
        mov     r7, r5
        lt      r7, r6
        xorimm  r7, r7, 1
        jmpfwdo r7, insert              ; the neighbour is not larger: here it is
        storeind r6, r2, r3             ; the neighbour moves into the gap
        mov     r3, r8
        jmp     shift
insert: storeind r5, r2, r3
        inc     r4
        neqimm  r7, r4, lo(end)
        jmpo    r7, card

        call    print
        .asciiz "after: "
        call    show
        jmp     $

; show: prints the numbers, a space before each, and ends the line.

show:   loadimm r3, lo(numbers)
.next:  loadimm r0, ' '
        output  r0
        loadind r0, r2, r3
        call    put_dec
        inc     r3
        neqimm  r7, r3, lo(end)
        jmpbwdo r7, .next
        call    newline
        return

.include "lib.asm"

.align 256
numbers:
        .byte   170, 45, 75, 255, 90, 2, 24, 66, 128, 0, 33, 127, 201, 7, 75, 99
end:
