; lib.asm: a small library for hex8
;
; Include it at the end of a program, after the last `jmp $`:
;
;         .include "lib.asm"
;
; The agreement all routines keep:
;
;   r0 .. r3     arguments and results, as each routine says
;   r12 .. r15   scratch: any call may change them
;   the others   come back as they were
;
; A 16-bit number lives in two registers, the high byte first: r0:r1.
;
;   print        the text that follows the call
;   puts         the text at r2:r3
;   newline      end the line
;   put_dec      r0 as a decimal number
;   put_dec16    r0:r1 as a decimal number
;   put_hex      r0 as two hexadecimal digits
;   mul16        r0:r1 = r0 * r1
;   div16        r0:r1 = r0:r1 / r2, remainder in r3
;   strlen       r0 = length of the text at r2:r3
;   streq        r0 = 1 if the texts at r0:r1 and r2:r3 are the same, else 0
;   random       r0 = the next number of a random sequence

.if !defined(MACROS)
        .include "macros.asm"           ; unless the program has done so
.endif

; ------------------------------------------------------------ text

; print: writes the text that stands in the program right after the call, up to
; its zero byte, and returns to the instruction behind it:
;
;         call    print
;         .asciiz "hello\n"
;
; The return address that `call` pushed is the address of the text.

print:  pop     r12                     ; high byte, pushed last
        pop     r13
.next:  loadind r14, r12, r13
        inc16   r12, r13
        eqimm   r15, r14, 0
        jmpfwdo r15, .done
        output  r14
        jmp     .next
.done:  push    r13                     ; the first byte after the text
        push    r12
        return

; puts: writes the text at r2:r3, up to its zero byte.

puts:   mov     r12, r2
        mov     r13, r3
.next:  loadind r14, r12, r13
        eqimm   r15, r14, 0
        jmpfwdo r15, .done
        output  r14
        inc16   r12, r13
        jmp     .next
.done:  return

newline:
        loadimm r15, '\n'
        output  r15
        return

; strlen: r0 = length of the text at r2:r3 (up to 255), without its zero byte.

strlen: loadimm r0, 0
        mov     r12, r2
        mov     r13, r3
.next:  loadind r14, r12, r13
        eqimm   r15, r14, 0
        jmpfwdo r15, .done
        inc     r0
        inc16   r12, r13
        jmp     .next
.done:  return

; streq: r0 = 1 if the text at r0:r1 is the same as that at r2:r3, else 0.
; Changes r1, r2 and r3.

streq:  loadind r12, r0, r1
        loadind r13, r2, r3
        mov     r14, r12
        neq     r14, r13
        jmpfwdo r14, .differ
        eqimm   r14, r12, 0             ; both end here: the same
        jmpfwdo r14, .same
        inc16   r0, r1
        inc16   r2, r3
        jmp     streq
.same:  loadimm r0, 1
        return
.differ:
        loadimm r0, 0
        return

; ------------------------------------------------------------ numbers

; put_dec: writes r0 in decimal. What stands before the last digit is r0 / 10,
; and writing that is the same task again, with a smaller number.

put_dec:
        ltimm   r15, r0, 10
        jmpfwdo r15, .last
        push    r0
        divimm  r0, r0, 10
        call    put_dec
        pop     r0
.last:  modimm  r15, r0, 10
        addimm  r15, r15, '0'
        output  r15
        return

; put_dec16: writes r0:r1 in decimal, in the same way. div16 gives the quotient
; and the last digit at once; the digit waits on the stack for its turn.

put_dec16:
        push    r0
        push    r1
        push    r2
        push    r3
        loadimm r2, 10
        call    .digits
        pop     r3
        pop     r2
        pop     r1
        pop     r0
        return

.digits:
        call    div16
        push    r3
        mov     r15, r0
        or      r15, r1
        eqimm   r15, r15, 0             ; nothing stands before this digit
        jmpfwdo r15, .last
        call    .digits
.last:  pop     r3
        addimm  r3, r3, '0'
        output  r3
        return

; put_hex: writes r0 as two hexadecimal digits.

put_hex:
        shrimm  r14, r0, 4
        call    .digit
        andimm  r14, r0, 15
.digit: gtimm   r15, r14, 9
        mulimm  r15, r15, 'A' - '9' - 1 ; the gap between '9' and 'A', or nothing
        add     r14, r15
        addimm  r14, r14, '0'
        output  r14
        return

; mul16: r0:r1 = r0 * r1, all sixteen bits. Multiplication on paper, in binary:
; look at the digits of r1 from the right, and for each 1 add the other number,
; shifted to its place. "Is the last digit 1" is the one question hex8 can ask.

mul16:  loadimm r12, 0                  ; r12:r13 is r0, shifted ever further
        mov     r13, r0
        mov     r14, r1                 ; r14 is what is left of r1
        loadimm r0, 0
        loadimm r1, 0
.digit: xorimm  r15, r14, 1
        jmpfwdo r15, .even
        add16   r0, r1, r12, r13
.even:  shlimm  r12, r12, 1
        shrimm  r15, r13, 7             ; the bit that moves from r13 into r12
        or      r12, r15
        shlimm  r13, r13, 1
        shrimm  r14, r14, 1
        neqimm  r15, r14, 0
        jmpbwdo r15, .digit
        return

; div16: r0:r1 = r0:r1 / r2, and r3 = the remainder, for r2 from 1 to 128.
; The high byte is divided by the hardware. Its remainder then takes in the low
; byte bit by bit, and the quotient's bits enter r1 where those leave it.

div16:  mov     r3, r0
        mod     r3, r2
        div     r0, r2
        loadimm r12, 8
.bit:   shlimm  r3, r3, 1
        rotlimm r1, r1, 1               ; the next bit arrives at the right end
        andimm  r15, r1, 1
        or      r3, r15                 ; ... and joins the remainder
        xor     r1, r15                 ; its place is free
        mov     r14, r3
        lt      r14, r2
        xorimm  r14, r14, 1             ; 1 if the divisor fits in
        or      r1, r14
        mul     r14, r2                 ; the divisor, or 0
        sub     r3, r14
        dec     r12
        neqimm  r15, r12, 0
        jmpbwdo r15, .bit
        return

; random: r0 = the next number. The sequence x = 5x + 29 (mod 256) passes through
; all 256 values before it repeats. Its low bits are poor; use the high ones.

random: loadmem r0, .seed
        mulimm  r0, r0, 5
        addimm  r0, r0, 29
        storemem r0, .seed
        return
.seed:  .byte   1
