; lib.asm: a small library for msp430
;
; Include it at the end of a program:
;
;         .include "lib.asm"
;
; Every routine is called with `call`, takes its argument in r12 and may change r12 to r15; the others come back as
; they were, as C compilers for this machine expect.
;
;   putc      writes the character in r12
;   puts      writes the text at r12
;   newline   ends the line
;   put_dec   writes r12 as a decimal number
;   put_digit writes the next digit of r15, four bits each

IFG2    = 0x0003                ; bit 1 tells that the serial port can take a character
TXBUF   = 0x0067

putc:   bit.b #2, &IFG2
        jz putc
        mov.b r12, &TXBUF
        ret

puts:   mov r12, r13
.next:  mov.b @r13+, r12
        tst r12
        jz .done
        call #putc
        jmp .next
.done:  ret

newline:
        mov #'\n', r12
        jmp putc

; put_dec: the bits leave r12 at its left, and what was collected is doubled in decimal: `dadd` adds the carry as well.

put_dec:
        clr r14                 ; four digits
        clr r15                 ; and the one before them
        mov #16, r13
.double:
        add r12, r12
        dadd r14, r14
        dadd r15, r15
        dec r13
        jnz .double
        swpb r15                ; now the first digit is the highest of r15, as it will be of r14
        add r15, r15
        add r15, r15
        add r15, r15
        add r15, r15
        push r14
        clr r14                 ; whether a digit was printed
        call #put_digit
        pop r15
        mov #4, r13
.next:  cmp #1, r13
        jne .digit
        mov #1, r14             ; the last digit is always printed
.digit: call #put_digit
        dec r13
        jnz .next
        ret

; put_digit: the highest digit of r15, unless it is 0 and nothing but zeros came before it, which r14 tells. r15 moves on
; to the next.

put_digit:
        mov r15, r12
        add r15, r15
        add r15, r15
        add r15, r15
        add r15, r15
        swpb r12
        rra r12
        rra r12
        rra r12
        rra r12
        and #15, r12
        bis r12, r14
        tst r14
        jz .none
        add #'0', r12
        call #putc
.none:  ret
