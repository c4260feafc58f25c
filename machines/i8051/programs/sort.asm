; sort.asm: sorts ten numbers
;
;   lathe run machines/i8051/programs/sort.asm
;
; The idea: the numbers are copied from the code memory to the internal memory above 0x80, which only
; r0 and r1 reach. Neighbours that are in the wrong order change places, until nothing has changed
; in a whole round.
;
; expect: output "3 7 12 19 25 42 88 101 200 255 \n"

.machine i8051

COUNT   = 10
NUMBERS = 0x90
CHANGED = 0x00                  ; a bit: the lowest of the cell 0x20

main:   mov sp, #0x30
        mov dptr, #numbers
        mov r0, #NUMBERS
        mov r7, #COUNT
copy:   clr a
        movc a, @a+dptr
        mov @r0, a
        inc dptr
        inc r0
        djnz r7, copy

again:  clr CHANGED
        mov r0, #NUMBERS
        mov r7, #COUNT - 1
next:   mov a, @r0
        inc r0
        mov 0x40, @r0
        cjne a, 0x40, differ
        sjmp fine
differ: jc fine                 ; a is smaller
        mov @r0, a
        dec r0
        mov @r0, 0x40
        inc r0
        setb CHANGED
fine:   djnz r7, next
        jb CHANGED, again

        mov r0, #NUMBERS
        mov r7, #COUNT
print:  mov a, @r0
        acall put_dec
        mov a, #' '
        acall putc
        inc r0
        djnz r7, print
        acall newline
        sjmp $

numbers: db 42, 7, 255, 3, 101, 88, 12, 200, 25, 19

        .include "lib.asm"
