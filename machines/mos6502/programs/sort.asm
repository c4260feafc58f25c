; sort.asm: sorts a row of numbers and prints it before and after
;
;   lathe run machines/mos6502/programs/sort.asm
;
; The idea: insertion sort. Take the next number, move every larger one before
; it a place to the right, and put the number into the gap. With one address and
; two index registers there is little to carry about.
;
;   y      where the number was taken from
;   x      the gap
;   taken  the number
;
; expect: output
; | before: 170 45 75 255 90 2 24 66 128 1 33 127 201 7 75 99
; | after:  1 2 7 24 33 45 66 75 75 90 99 127 128 170 201 255

.machine mos6502

taken   = $10

        .org $0400
        .entry main

main:   jsr print
        .asciiz "before:"
        jsr show

        ldy #1                  ; a row of one number is sorted
.take:  lda numbers,y
        sta taken
        tya
        tax
.shift: lda numbers-1,x         ; the number on the left of the gap
        cmp taken
        bcc .insert             ; is smaller,
        beq .insert             ; or the same: here is the place
        sta numbers,x           ; else it moves, and the gap is where it was
        dex
        bne .shift              ; until the gap is the first place of all
.insert:
        lda taken
        sta numbers,x
        iny
        cpy #COUNT
        bne .take

        jsr print
        .asciiz "after: "
        jsr show
done:   jmp done

; show: prints the numbers, a blank before each, and ends the line.

show:   ldx #0
.next:  lda #' '
        jsr putc
        txa                     ; the stack keeps x meanwhile
        pha
        lda numbers,x
        jsr put_dec
        pla
        tax
        inx
        cpx #COUNT
        bne .next
        jmp newline

numbers:
        .byte 170, 45, 75, 255, 90, 2, 24, 66, 128, 1, 33, 127, 201, 7, 75, 99
COUNT   = * - numbers

        .include "lib.asm"
