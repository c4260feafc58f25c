.machine stack8a
; life.asm: Conway's Life on a board of 8 × 8, eight cells at a time
;
; A row of the board is one byte, a cell is one bit, and `and` and `xor` work on all eight
; cells of a row at once. To count neighbours, there is a counter for each column, all lying
; crosswise in three bytes: ONES has the lowest bit of all eight counters, TWOS the next,
; FOURS the last. Adding a row to them is what a half-adder does: the bit that is carried is
; old and new, the bit that stays is old xor new, three times over (`tally`).
;
; Nine rows are added: those above, here and below, each as it is and turned one place to
; either side, so the edges of the board meet. With the cell itself counted in, the law of
; Life is: it lives if there are 3, or if there are 4 and it lives already. (8 and 9 become
; 0 and 1 in three bits, and nobody minds.)
;
; The glider goes one place down and one to the right in four generations. This shows twelve.
;
;   lathe run machines/stack8a/programs/life.asm
;
; data 0x00 … 0x02  ONES TWOS FOURS         data 0x03 generations to go
; data 0x10 … 0x17  the board               data 0x18 … 0x1F  the next board
;
; expect: data[0x10] = 0, 0, 0, 8, 4, 28, 0, 0
; expect: sp = 0

GENERATIONS = 12
ONES        = 0
TWOS        = 1
FOURS       = 2
TO_GO       = 3
BOARD       = 0x10
NEXT        = 0x18

        .include "lib.asm"

        psh GENERATIONS
        put TO_GO

generation:
        x0                      ; row, 0 to 7
row:    x0                      ; clear the counters
        put ONES
        x0
        put TWOS
        x0
        put FOURS
        dup
        dec                     ; row other: the row above, here, below
other:  dup
        x7
        and                     ; around the edge
        psh BOARD
        add
        lda                     ; row other cells
        dup
        call tally
        dup                     ; turned left
        shl 1
        ldo 1
        shr 7
        oor
        call tally
        dup                     ; turned right
        shr 1
        swp
        shl 7
        oor
        call tally              ; row other
        inc
        dup
        dec
        dec
        ldo 2
        ieq
        unless other            ; until other = row + 2
        drp

        get ONES                ; 3: ones and twos, but no four
        get TWOS
        and
        get FOURS
        not
        and                     ; row three?
        get ONES
        get TWOS
        oor
        not
        get FOURS
        and                     ; row three? four?
        ldo 2
        psh BOARD
        add
        lda
        and                     ; four, and alive
        oor
        ldo 1
        psh NEXT
        add
        sta                     ; row
        inc
        dup
        x8
        ieq
        unless row
        drp

        psh BOARD               ; the next board becomes the board
copy:   dup
        x8
        add
        lda
        ldo 1
        sta
        inc
        dup
        psh NEXT
        ieq
        unless copy
        drp

        get TO_GO
        dec
        dup
        put TO_GO
        nez
        branch generation
        htl

; tally ( cells -- ) adds a row to the counters.
.macro half counter             ; ( bits -- carried bits )
        get counter
        ldo 1
        ldo 1
        xor
        put counter
        and
.endm

tally:  swp                     ; back bits
        half ONES
        half TWOS
        half FOURS
        drp
        return

        .data
        .org BOARD
        .byte 0b01000000
        .byte 0b00100000
        .byte 0b11100000
        .byte 0b00000000
        .byte 0b00000000
        .byte 0b00000000
        .byte 0b00000000
        .byte 0b00000000
