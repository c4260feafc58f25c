; sort.asm: sorts ten numbers
;
;   lathe run machines/avr/programs/sort.asm
;
; The idea: the numbers are copied from the program memory to the data memory. Insertion sort: each
; number moves down past those that are larger. x and y go along the numbers.
;
; expect: output "3 7 12 19 25 42 88 101 200 255 \n"

.machine avr

COUNT   = 10
NUMBERS = 0x60

main:   ldi r30, lo8(2 * numbers)
        ldi r31, hi8(2 * numbers)
        ldi r26, lo8(NUMBERS)
        ldi r27, hi8(NUMBERS)
        ldi r18, COUNT
copy:   lpm r16, z+
        adiw r30, 1
        st x+, r16
        dec r18
        brne copy

        ldi r18, 1              ; how many are in order
outer:  ldi r28, lo8(NUMBERS)
        ldi r29, hi8(NUMBERS)
        add r28, r18            ; the next one
        ld r16, y
        mov r19, r18
inner:  ld r17, -y
        cp r16, r17
        brsh place
        std y+1, r17
        dec r19
        brne inner
        st y, r16
        rjmp placed
place:  std y+1, r16
placed: inc r18
        cpi r18, COUNT
        brne outer

        ldi r26, lo8(NUMBERS)
        ldi r27, hi8(NUMBERS)
        ldi r18, COUNT
print:  ld r24, x+
        clr r25
        rcall put_dec
        ldi r16, ' '
        rcall putc
        dec r18
        brne print
        rcall newline
        sleep

numbers:
        .word 42, 7, 255, 3, 101, 88, 12, 200, 25, 19

        .include "lib.asm"
