; lib.asm: a small library for z80
;
; Include it at the end of a program, after its `halt`:
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

putc:   out (TERMINAL), a
        ret

; puts: writes the text at hl, up to its zero byte. Changes a, hl.

puts:   ld a, (hl)
        inc hl
        or a
        ret z
        call putc
        jr puts

; newline: ends the line. Changes a.

newline:
        ld a, '\n'
        jr putc

; put_hex: writes a as two hexadecimal digits. Changes a.

put_hex:
        push af
        rrca
        rrca
        rrca
        rrca
        call .digit
        pop af
.digit: and $0F
        cp 10                   ; carry: a digit
        sbc a, $69              ; the shortest way to turn 0 to 15
        daa                     ; into '0' to '9' and 'A' to 'F'
        jr putc

; put_dec: writes hl as a decimal number. Changes a, hl.

put_dec:
        push bc
        push de
        ld b, 0                 ; how many digits wait on the stack
.digit: call .div10
        push af
        inc b
        ld a, h
        or l
        jr nz, .digit
.write: pop af
        add a, '0'
        call putc
        djnz .write
        pop de
        pop bc
        ret

; Divides hl by ten; the remainder goes to a.

.div10: xor a
        ld d, 16
.bit:   add hl, hl
        rla
        cp 10
        jr c, .small
        sub 10
        inc l
.small: dec d
        jr nz, .bit
        ret
