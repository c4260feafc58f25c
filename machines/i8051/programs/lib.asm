; lib.asm: a small library for i8051
;
; Include it at the end of a program, after its last jump:
;
;         .include "lib.asm"
;
; Every routine says which registers it changes; the others come back as they were, but for the flags.
;
;   putc      writes the character in a
;   puts      writes the text at dptr in the code memory
;   newline   ends the line
;   put_dec   writes a as a decimal number
;   put_word  writes dptr as a decimal number
;   put_hex   writes a as two hexadecimal digits

; putc: writes the character in a. Changes nothing.

putc:   jnb ti, putc            ; until the serial port is ready to send
        mov sbuf, a
        ret

; puts: writes the text at dptr, up to its zero byte. Changes a, dptr.

puts:   clr a
        movc a, @a+dptr
        jz .done
        acall putc
        inc dptr
        sjmp puts
.done:  ret

; newline: ends the line. Changes a.

newline:
        mov a, #'\n'
        sjmp putc

; put_hex: writes a as two hexadecimal digits. Changes a.

put_hex:
        push acc
        swap a
        acall .digit
        pop acc
.digit: anl a, #0x0F
        add a, #0x90            ; the shortest way to turn 0 to 15
        da a                    ; into '0' to '9' and 'A' to 'F'
        addc a, #0x40
        da a
        sjmp putc

; put_dec: writes a as a decimal number. Changes a, b.

put_dec:
        mov b, #10
        div ab
        jz .last
        push b                  ; the last digit comes last
        acall put_dec
        pop b
.last:  mov a, b
        add a, #'0'
        sjmp putc

; put_word: writes dptr as a decimal number. Changes a, b, dptr.

put_word:
        acall .div10
        push b
        mov a, dpl
        orl a, dph
        jz .end
        acall put_word
.end:   pop b
        mov a, b
        add a, #'0'
        sjmp putc

; Divides dptr by ten; the remainder goes to b. Changes a.

.div10: mov b, #0
        mov a, r7
        push acc
        mov r7, #16
.bit:   clr c
        mov a, dpl
        rlc a
        mov dpl, a
        mov a, dph
        rlc a
        mov dph, a
        mov a, b
        rlc a
        mov b, a
        clr c
        subb a, #10
        jc .small
        mov b, a
        inc dpl
.small: djnz r7, .bit
        pop acc
        mov r7, a
        ret
