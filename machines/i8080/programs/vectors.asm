; vectors.asm: calls routines through a table
;
;   lathe run machines/i8080/programs/vectors.asm
;
; The idea: `pchl` jumps to where hl points. The address after it was pushed by hand, so
; that the routine comes back.
;
; expect: output "one two three two \n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi d, order
next:   ldax d
        inx d
        ora a
        jz done
        push d
        add a                   ; two bytes for each entry
        mov c, a
        mvi b, 0
        lxi h, table - 2
        dad b
        mov a, m
        inx h
        mov h, m
        mov l, a
        lxi b, back
        push b
        pchl
back:   pop d
        jmp next
done:   call newline
        hlt

one:    lxi h, .text
        jmp puts
.text:  .asciiz "one "
two:    lxi h, .text
        jmp puts
.text:  .asciiz "two "
three:  lxi h, .text
        jmp puts
.text:  .asciiz "three "

table:  dw one, two, three
order:  db 1, 2, 3, 2, 0

        .include "lib.asm"
