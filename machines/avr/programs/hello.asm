; hello.asm: prints a greeting
;
;   lathe run machines/avr/programs/hello.asm
;
; The idea: the text is in the program memory, one character in each word. z counts bytes there, so it
; begins at twice the address and goes on by two. The serial port is at 0x0C.
;
; expect: output "Hello from an AVR!\n"

.machine avr

UDR     = 0x0C

main:   ldi r30, lo8(2 * text)
        ldi r31, hi8(2 * text)
next:   lpm r16, z
        tst r16
        breq done
        out UDR, r16
        adiw r30, 2
        rjmp next
done:   sleep

text:   .asciiz "Hello from an AVR!\n"
