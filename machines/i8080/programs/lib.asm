; lib.asm: a small library for i8080
;
; Include it at the end of a program, after its `hlt`:
;
;         .include "lib.asm"
;
; Every routine says which registers it changes; the others come back as they were.
;
;   putc      writes the character in a
;   puts      writes the text at hl
;   newline   ends the line
;   put_dec   writes hl as a decimal number
;   put_hex   writes a as two hexadecimal digits

TERMINAL = 1                    ; the port

; putc: writes the character in a. Changes nothing.

putc:   out TERMINAL
        ret

; puts: writes the text at hl, up to its zero byte. Changes a, hl.

puts:   mov a, m
        inx h
        ora a
        rz
        call putc
        jmp puts

; newline: ends the line. Changes a.

newline:
        mvi a, '\n'
        jmp putc

; put_hex: writes a as two hexadecimal digits. Changes a.

put_hex:
        push psw
        rrc
        rrc
        rrc
        rrc
        call .digit
        pop psw
.digit: ani 0x0F
        adi 0x90                ; the shortest way to turn 0 to 15
        daa                     ; into '0' to '9' and 'A' to 'F'
        aci 0x40
        daa
        jmp putc

; put_dec: writes hl as a decimal number. Changes a, hl.

put_dec:
        push b
        push d
        mvi b, 0                ; how many digits wait on the stack
.digit: call .div10
        push psw
        inr b
        mov a, h
        ora l
        jnz .digit
.write: pop psw
        adi '0'
        call putc
        dcr b
        jnz .write
        pop d
        pop b
        ret

; Divides hl by ten; the remainder goes to a.

.div10: xra a
        mvi d, 16
.bit:   dad h
        ral
        cpi 10
        jc .small
        sui 10
        inr l
.small: dcr d
        jnz .bit
        ret
