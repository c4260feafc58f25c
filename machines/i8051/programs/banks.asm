; banks.asm: four sets of registers
;
;   lathe run machines/i8051/programs/banks.asm
;
; The idea: r0 to r7 are cells of the internal memory, from 0, 8, 16 or 24 on, as two bits of PSW say.
; A routine that works in another bank leaves its caller's registers alone, and finds its own as
; it left them: here it counts how often it was called.
;
; expect: output "3 33 3 35\n"

.machine i8051

main:   mov sp, #0x40           ; above all banks
        mov r3, #33
        acall count
        acall count
        acall count
        mov a, 11               ; r3 of bank 1
        acall put_dec
        acall space
        mov a, r3               ; r3 of bank 0
        acall put_dec
        acall space
        setb rs0
        mov a, r3
        acall put_dec
        clr rs0
        acall space
        inc 3                   ; r3, by its address
        inc r3
        mov a, 3
        acall put_dec
        acall newline
        sjmp $

count:  push psw
        setb rs0
        inc r3
        pop psw
        ret

space:  mov a, #' '
        sjmp putc

        .include "lib.asm"
