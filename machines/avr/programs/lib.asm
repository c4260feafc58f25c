; lib.asm: a small library for avr
;
; Include it at the end of a program, after its `sleep`:
;
;         .include "lib.asm"
;
; Every routine says which registers it changes; the others come back as they were.
;
;   putc      writes the character in r16
;   puts      writes the text at z in the program memory, one character a word
;   newline   ends the line
;   put_dec   writes r25:r24 as a decimal number
;   put_hex   writes r16 as two hexadecimal digits

UCSRA   = 0x0B                  ; the state of the serial port: bit 5 is 1 if it is ready to send
UDR     = 0x0C                  ; what it sends and receives

; putc: writes the character in r16. Changes nothing.

putc:   sbis UCSRA, 5
        rjmp putc
        out UDR, r16
        ret

; puts: writes the text at z, a byte address, up to its zero word. Changes r16, z.

puts:   lpm r16, z
        adiw r30, 2
        tst r16
        breq .done
        rcall putc
        rjmp puts
.done:  ret

; newline: ends the line. Changes r16.

newline:
        ldi r16, '\n'
        rjmp putc

; put_hex: writes r16 as two hexadecimal digits. Changes r16.

put_hex:
        push r16
        swap r16
        rcall .digit
        pop r16
.digit: andi r16, 0x0F
        subi r16, -'0'
        cpi r16, '9' + 1
        brlo putc
        subi r16, -7
        rjmp putc

; put_dec: writes r25:r24 as a decimal number. Changes r16, r24, r25.

put_dec:
        push r17
        push r18
        ldi r18, 0              ; how many digits wait on the stack
.digit: rcall .div10
        push r16
        inc r18
        mov r16, r24
        or r16, r25
        brne .digit
.write: pop r16
        subi r16, -'0'
        rcall putc
        dec r18
        brne .write
        pop r18
        pop r17
        ret

; Divides r25:r24 by ten; the remainder goes to r16. Changes r17.

.div10: clr r16
        ldi r17, 16
.bit:   lsl r24
        rol r25
        rol r16
        cpi r16, 10
        brlo .small
        subi r16, 10
        inc r24
.small: dec r17
        brne .bit
        ret
