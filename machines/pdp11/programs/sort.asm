; sort.asm: sorts words with bubbles
;
;   lathe run machines/pdp11/programs/sort.asm
;
; The idea: `cmp (r1)+, (r1)` looks at a word and its neighbour and moves on; two words
; change places on the stack, without a register.
;
; expect: output "-300 -7 0 1 2 12 99 1024 \n"

.machine pdp11

main:   mov #main, sp
again:  clr r2                  ; whether anything moved
        mov #words, r1
pass:   cmp (r1)+, (r1)
        ble fine
        mov (r1), -(sp)
        mov -2(r1), (r1)
        mov (sp)+, -2(r1)
        inc r2
fine:   cmp r1, #last
        blo pass
        tst r2
        bne again
        mov #words, r1
show:   mov (r1)+, r0
        bpl plus
        mov r0, -(sp)
        mov #'-', r0
        call putc
        mov (sp)+, r0
        neg r0
plus:   call put_dec
        mov #' ', r0
        call putc
        cmp r1, #last
        blos show
        call newline
        halt

        .include "lib.asm"
        .align 2
words:  .le16 99, 2, -7, 1024, 0, 12, 1
last:   .le16 -300
