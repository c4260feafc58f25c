; hello.asm: prints a greeting
;
;   lathe run machines/i8051/programs/hello.asm
;
; The idea: movc reads the code memory at a plus dptr. SBUF is the serial port.
;
; expect: output "Hello from an 8051!\n"

.machine i8051

main:   mov dptr, #text
next:   clr a
        movc a, @a+dptr
        jz done
        mov sbuf, a
        inc dptr
        sjmp next
done:   sjmp done               ; a jump to itself: the machine halts

text:   .asciiz "Hello from an 8051!\n"
