.machine duo16
; fibonacci.asm: every Fibonacci number that fits in 16 bits
;
; Nobody counts how many there are: the sum that no longer fits sets the carry, and `jc`
; ends the loop. Numbers are unsigned here only because `print_unsigned` and `jc` take them
; so; for `add` there is no difference.
;
;   lathe run machines/duo16/programs/fibonacci.asm
;
; r6  this number      r7  the next one      r8  the one after it
; (r6 to r10 are safe from the library's routines)

        .include "lib.asm"

main:   ldi   r6, 0
        ldi   r7, 1
next:   mov   r1, r6
        call  print_unsigned
        emit  '\n'
        add   r8, r6, r7
        jc    last              ; r8 is wrong now, but r7 is still to be printed
        mov   r6, r7
        mov   r7, r8
        jmp   next
last:   mov   r1, r7
        call  print_unsigned
        emit  '\n'
        halt
