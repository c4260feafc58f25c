; shout.asm: reads a line and prints it in capitals
;
;   lathe run machines/msp430/programs/shout.asm
;
; The idea: bytes have instructions of their own, and a register that a byte is written to has zeros above it.
;
; input: "Hello, MSP430!\n"
; expect: output "HELLO, MSP430!\n"

.machine msp430

RXBUF   = 0x0066

main:   mov #0x0A00, sp
next:   bit.b #1, &IFG2
        jz next
        mov.b &RXBUF, r12
        cmp.b #'a', r12
        jlo print
        cmp.b #'z' + 1, r12
        jhs print
        bic.b #0x20, r12
print:  call #putc
        cmp.b #'\n', r12
        jne next
        halt

        .include "lib.asm"
