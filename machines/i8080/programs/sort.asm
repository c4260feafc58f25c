; sort.asm: sorts ten numbers
;
;   lathe run machines/i8080/programs/sort.asm
;
; The idea: bubble sort. Neighbours that are in the wrong order change places, until
; nothing has changed in a whole round.
;
; expect: output "3 7 12 19 25 42 88 101 200 255 \n"

.machine i8080

        .org 0x100
        .entry main

COUNT   = 10

main:   lxi sp, 0
again:  lxi h, numbers
        lxi b, (COUNT - 1) << 8 ; b counts, c is 1 if something has changed
next:   mov a, m
        inx h
        cmp m
        jc fine
        jz fine
        mov d, m
        mov m, a
        dcx h
        mov m, d
        inx h
        mvi c, 1
fine:   dcr b
        jnz next
        dcr c
        jz again
        lxi d, numbers
        mvi c, COUNT
print:  ldax d
        mov l, a
        mvi h, 0
        call put_dec
        mvi a, ' '
        call putc
        inx d
        dcr c
        jnz print
        call newline
        hlt

numbers:
        db 42, 7, 255, 3, 101, 88, 12, 200, 25, 19

        .include "lib.asm"
