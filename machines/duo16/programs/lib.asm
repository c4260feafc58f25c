.machine duo16
; lib.asm: the small things every duo16 program needs
;
; A program that wants it says `.include "lib.asm"` first, and calls its own beginning
; `main`: the library starts with a jump over itself, so everything still begins at 0.
;
; Registers. Arguments come in r1, r2, … and results go back in the same places. A routine
; may use r1 to r5 as it likes and leaves r6 to r10 alone; so keep in those what must
; survive a call. The macros with a constant in them work through r5.
;
;   macros       addi subi cmpi cmpb emit enter leave
;   printing     puts print_unsigned print_signed print_padded print_hex
;   reading      read_line parse_unsigned
;   texts        length compare copy
;   arithmetic   multiply_signed divide_signed random

CONSOLE = 0xFFE0                ; read: the next byte of input; write: a byte of output
STATUS  = 0xFFE1                ; 1 while input is left, else 0

        jmp   main

; ── Macros ───────────────────────────────────────────────────────────────────────────────
; No arithmetic takes a constant; these load it into r5 first.

.macro addi reg, number         ; reg + number
        ldi   r5, number
        add   reg, reg, r5
.endm

.macro subi reg, number         ; reg - number
        ldi   r5, number
        sub   reg, reg, r5
.endm

.macro cmpi reg, number         ; flags of reg - number
        ldi   r5, number
        cmp   reg, r5
.endm

.macro cmpb reg, number         ; the same for a byte, which may not be r5l
        ldi   r5l, number
        cmp   reg, r5l
.endm

.macro emit char                ; sends one character
        ldi   r5l, char
        store r0, CONSOLE, r5l
.endm

; `call` keeps the way back in rl, and the next call forgets it. A routine that calls
; others begins with `enter` and ends with `leave`.

.macro enter
        push  rl
.endm

.macro leave
        pop   rl
        ret
.endm

; ── Printing ─────────────────────────────────────────────────────────────────────────────

; puts: prints the text at r1, up to its zero byte. Leaves r1 on that byte.
puts:   ldi   r4, 1
.next:  load  r5l, r1, 0
        cmp   r5l, r0b
        jez   .done
        store r0, CONSOLE, r5l
        add   r1, r1, r4
        jmp   .next
.done:  ret

; print_signed: prints r1, -32768 to 32767.
print_signed:
        cmp   r1, r0
        jge   print_unsigned
        emit  '-'
        sub   r1, r0, r1        ; -32768 stays what it is, and is right as unsigned
                                ; … and goes on below

; print_unsigned: prints r1, 0 to 65535.
print_unsigned:
        ldi   r2, 0             ; no width to fill

; print_padded: prints r1 as above, with spaces in front to make it r2 characters wide.
; Division gives the last digit first, so the digits wait on the stack, above a zero byte.
print_padded:
        ldi   r3, 10
        push  r0b
.digit: div   r1, r4, r1, r3    ; r1 = the rest of the number, r4 = its last digit
        addi  r4, '0'
        push  r4l
        subi  r2, 1
        cmp   r1, r0
        jnz   .digit
.space: cmp   r2, r0
        jle   .print
        emit  ' '
        subi  r2, 1
        jmp   .space
.print: pop   r4l
        cmp   r4l, r0b
        jez   .done
        store r0, CONSOLE, r4l
        jmp   .print
.done:  ret

; print_hex: prints r1 as four hexadecimal digits.
print_hex:
        ldi   r2, 12            ; the digit's distance from the right end, in bits
        ldi   r4, 15
.digit: lsr   r3, r1, r2
        and   r3, r3, r4
        load  r3l, r3, .digits
        store r0, CONSOLE, r3l
        subi  r2, 4
        jge   .digit
        ret
.digits:
        .ascii "0123456789ABCDEF"

; ── Reading ──────────────────────────────────────────────────────────────────────────────

; read_line: reads a line into the r2 bytes at r1, without its newline and with a zero byte
; at its end; what does not fit is lost. Gives its length in r1, or -1 if input was at its
; end already.
read_line:
        load  r3l, r0, STATUS
        cmp   r3l, r0b
        jez   .nothing
        push  r1                ; to know the length later
        add   r2, r1, r2
        subi  r2, 1             ; where the zero byte goes at the latest
        ldi   r4, 1
.next:  load  r3l, r0, STATUS
        cmp   r3l, r0b
        jez   .done
        load  r3l, r0, CONSOLE
        cmpb  r3l, '\n'
        jez   .done
        cmp   r1, r2
        jae   .next             ; full
        store r1, 0, r3l
        add   r1, r1, r4
        jmp   .next
.done:  store r1, 0, r0b
        pop   r3
        sub   r1, r1, r3
        ret
.nothing:
        ldi   r1, -1
        ret

; parse_unsigned: the number that the text at r1 begins with, in r1 (0 if it does not begin
; with a digit); r2 is the address behind it.
parse_unsigned:
        mov   r2, r1
        mov   r1, r0
        ldi   r4, 10
.digit: load  r3l, r2, 0
        ldi   r5l, '0'
        sub   r3l, r3l, r5l
        cmp   r3l, r4l          ; unsigned: what is before '0' has become large
        jae   .done
        mov   r3h, r0b
        mul   r1, r5, r1, r4
        add   r1, r1, r3
        addi  r2, 1
        jmp   .digit
.done:  ret

; ── Texts, each ending in a zero byte ────────────────────────────────────────────────────

; length: of the text at r1, in r1.
length: mov   r2, r1
        ldi   r4, 1
.next:  load  r3l, r1, 0
        cmp   r3l, r0b
        jez   .done
        add   r1, r1, r4
        jmp   .next
.done:  sub   r1, r1, r2
        ret

; compare: the texts at r1 and r2. Comes back with the flags of a `cmp` of the first two
; characters that differ: jez equal, jb the first comes first, ja it comes last.
compare:
        ldi   r4, 1
.next:  load  r3l, r1, 0
        load  r3h, r2, 0
        cmp   r3l, r3h
        jne   .done
        cmp   r3l, r0b
        jez   .done
        add   r1, r1, r4
        add   r2, r2, r4
        jmp   .next
.done:  ret

; copy: the text at r2, its zero byte included, to r1. Leaves r1 on the zero byte, so that
; the next copy goes on there.
copy:   ldi   r4, 1
.next:  load  r3l, r2, 0
        store r1, 0, r3l
        cmp   r3l, r0b
        jez   .done
        add   r1, r1, r4
        add   r2, r2, r4
        jmp   .next
.done:  ret

; ── Arithmetic ───────────────────────────────────────────────────────────────────────────

; multiply_signed: r1 × r2 as signed numbers; the lower half in r1, the upper in r2.
; `mul` takes both as unsigned, so a negative number counts 65536 too much: the other
; number must be taken off the upper half again.
multiply_signed:
        mul   r3, r4, r1, r2
        cmp   r1, r0
        jge   .first
        sub   r4, r4, r2
.first: cmp   r2, r0
        jge   .second
        sub   r4, r4, r1
.second:
        mov   r1, r3
        mov   r2, r4
        ret

; divide_signed: r1 / r2 towards zero in r1, the remainder, with the sign of the old r1, in
; r2. Division by zero is the machine's trap 2.
divide_signed:
        mov   r3, r1            ; the remainder's sign
        xor   r4, r1, r2        ; the quotient's sign
        cmp   r1, r0
        jge   .first
        sub   r1, r0, r1
.first: cmp   r2, r0
        jge   .second
        sub   r2, r0, r2
.second:
        div   r1, r2, r1, r2
        cmp   r4, r0
        jge   .quotient
        sub   r1, r0, r1
.quotient:
        cmp   r3, r0
        jge   .done
        sub   r2, r0, r2
.done:  ret

; random: the next of 65535 numbers in r1, none of them 0, from the seed in `random.seed`
; (xorshift by 7, 9 and 8: three shifts reach every number before the first comes back).
random: load  r1, r0, .seed
        ldi   r3, 7
        shl   r2, r1, r3
        xor   r1, r1, r2
        ldi   r3, 9
        lsr   r2, r1, r3
        xor   r1, r1, r2
        ldi   r3, 8
        shl   r2, r1, r3
        xor   r1, r1, r2
        store r0, .seed, r1
        ret
.seed:  .word 1
