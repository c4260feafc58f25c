; lib.asm: a small library for pdp11
;
; Include it at the end of a program, after its `halt`:
;
;         .include "lib.asm"
;
; Every routine is called with `call` and says which registers it changes; the others come back
; as they were.
;
;   putc      writes the character in r0
;   puts      writes the text at r0
;   newline   ends the line
;   put_dec   writes r0 as a decimal number
;   put_oct   writes r0 as six octal digits

TPS     = 0xFF74                ; the terminal: bit 7 tells that it can take a character
TPB     = 0xFF76

; putc: writes the character in r0. Changes nothing.

putc:   tstb @#TPS
        bpl putc
        movb r0, @#TPB
        return

; puts: writes the text at r0, up to its zero byte. Changes r0.

puts:   mov r1, -(sp)
        mov r0, r1
.next:  movb (r1)+, r0
        beq .done
        call putc
        br .next
.done:  mov (sp)+, r1
        return

; newline: ends the line. Changes r0.

newline:
        mov #'\n', r0
        br putc

; divide: r0 by r1. Gives the quotient in r0 and the remainder in r2.

divide: mov r3, -(sp)
        clr r2
        mov #16, r3
.next:  asl r0                  ; the quotient follows the bits that leave
        rol r2
        cmp r2, r1
        blo .small
        sub r1, r2
        inc r0
.small: sob r3, .next
        mov (sp)+, r3
        return

; put_dec: writes r0 as a decimal number. Changes r0.

put_dec:
        mov r1, -(sp)
        mov r2, -(sp)
        mov #10, r1
        call divide
        tst r0
        beq .last
        mov r2, -(sp)
        call put_dec            ; the digits before the last
        mov (sp)+, r2
.last:  mov r2, r0
        add #'0', r0
        call putc
        mov (sp)+, r2
        mov (sp)+, r1
        return

; put_oct: writes r0 as six octal digits. Changes r0.

put_oct:
        mov r1, -(sp)
        mov r2, -(sp)
        mov r0, r1
        clr r0
        mov #6, r2
        br .first               ; the first digit has one bit
.next:  clr r0
        asl r1
        rol r0
        asl r1
        rol r0
.first: asl r1
        rol r0
        add #'0', r0
        call putc
        sob r2, .next
        mov (sp)+, r2
        mov (sp)+, r1
        return
