; registers.asm: registers as cells of the data memory
;
;   lathe run machines/avr/programs/registers.asm
;
; The idea: r0 to r31 are the cells 0 to 31, so a pointer can go along them; the stack pointer and
; the status are cells as well. r0 to r9 are filled through x, summed up as registers, and read
; through lds.
;
; expect: output "45 7 2 \n"
; expect: r9 = 9

.machine avr

main:   clr r26
        clr r27
        ldi r16, 0
fill:   st x+, r16
        inc r16
        cpi r16, 10
        brne fill

        clr r25
        mov r24, r0
        add r24, r1
        add r24, r2
        add r24, r3
        add r24, r4
        add r24, r5
        add r24, r6
        add r24, r7
        add r24, r8
        add r24, r9
        rcall show

        lds r24, 7              ; r7
        rcall show

        ldi r16, 0              ; 0 is zero, so the status has bit 1
        tst r16
        in r24, 0x3F
        andi r24, 0b0010
        rcall show
        rcall newline
        sleep

show:   clr r25
        rcall put_dec
        ldi r16, ' '
        rjmp putc

        .include "lib.asm"
