; life.asm: Conway's game of life on a field of 16 by 16 cells
;
;   lathe run machines/mos6502/programs/life.asm
;
; The idea: the field is one page, a byte for every cell, and an index into it is
; yx: the row in the upper half, the column in the lower one. Rows wrap by
; themselves, because a byte does; columns wrap if only the lower half of the sum
; is kept. So the field has no edge.
;
; With the cell itself there are nine cells to add up. Three of them: the cell
; lives. Four: it stays as it is. Any other number: it is dead.
;
;   x      a cell of the field
;   total  the sum

.machine mos6502

total   = $10
middle  = $11                   ; the middle cell of a row of three
turn    = $12                   ; the generation

now         = $2000             ; the field
then        = $2100             ; and what becomes of it
GENERATIONS = 4

        .org $0400
        .entry main

main:   lda #0
        sta turn
        tax
.clear: sta now,x
        inx
        bne .clear
        lda #1
        ldx #CELLS-1
.cell:  ldy cells,x
        sta now,y
        dex
        bpl .cell

.next:  jsr print
        .asciiz "generation "
        lda turn
        jsr put_dec
        jsr newline
        jsr show
        lda turn
        cmp #GENERATIONS
        beq done
        jsr step
        inc turn
        bne .next
done:   jmp done

step:   ldx #0
.cell:  jsr sum
        lda total
        cmp #4
        beq .stays
        cmp #3
        beq .lives
        lda #0
        beq .set
.lives: lda #1
        bne .set
.stays: lda now,x
.set:   sta then,x
        inx
        bne .cell
.copy:  lda then,x              ; and back
        sta now,x
        inx
        bne .copy
        rts

; sum: total = how many of the nine cells around x live. Keeps x.

sum:    lda #0
        sta total
        txa
        sec
        sbc #16                 ; the row above
        jsr .row
        txa
        jsr .row
        txa
        clc
        adc #16
.row:   sta middle
        tay
        dey
        jsr .one
        ldy middle
        jsr .one
        ldy middle
        iny
.one:   tya                     ; the row of the middle one, the column of y
        eor middle
        and #$0F
        eor middle
        tay
        lda now,y
        clc
        adc total
        sta total
        rts

show:   ldx #0
.cell:  ldy now,x
        lda marks,y
        jsr putc
        inx
        txa
        and #$0F
        bne .cell
        jsr newline             ; the row is full
        cpx #0
        bne .cell
        rts

marks:  .ascii ".#"

; A glider that is about to cross the edge, a blinker and a toad.

cells:  .byte $DE, $EF, $FD, $FE, $FF
        .byte $34, $35, $36
        .byte $79, $7A, $7B, $88, $89, $8A
CELLS   = * - cells

        .include "lib.asm"
