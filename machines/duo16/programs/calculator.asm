.machine duo16
; calculator.asm: works out sums such as 2 * (3 + 4), line by line
;
; The grammar is the program: `expression` is terms with + and - between them, `term` is
; factors with * / % between them, and `factor` is a number, or a whole expression in
; parentheses, or a minus sign and a factor. Each rule is a routine that reads what it
; describes and leaves the value in r1; the stack keeps what is half done.
;
; Errors can happen deep inside, so they are traps, and the handler throws everything away:
; in the frame that `reth` restores it sets pc to the beginning and rs to an empty stack.
; The machine has four traps, and each has a job here:
;   0  halt                  the end, at an empty line or the end of the input
;   1  invalid instruction   not a sum: the byte 0, never an instruction, is put in the way
;   2  division by zero      what it says; nobody needs to check a divisor
;   3  reth outside a trap   too large for 16 bits
;
;   lathe run machines/duo16/programs/calculator.asm
;
; r6  address of the next character    r7  rs when the stack is empty

        .include "lib.asm"

.macro fail_syntax
        .byte 0                 ; trap 1
.endm

.macro fail_size
        reth                    ; trap 3
.endm

; Where the trap frame keeps things, as the handler sees it from rs.
FRAME_RS = 8
FRAME_PC = 32

main:   ldi   rh, handler
        mov   r7, rs
        ldi   r1, greeting
        call  puts

line:   ldi   r1, buffer
        ldi   r2, buffer.end - buffer
        call  read_line
        cmp   r1, r0
        jgt   sum               ; -1: no line; 0: an empty one
        halt
sum:    ldi   r6, buffer
        call  expression
        push  r1
        call  peek
        cmp   r2l, r0b          ; something left over?
        jnz   syntax
        ldi   r1, equals
        call  puts
        pop   r1
        call  print_signed
        emit  '\n'
        jmp   line

syntax: fail_syntax

; handler: takes every trap; r1 is its number.
handler:
        cmp   r1, r0
        jnz   .error
        halt                    ; inside a handler, this halts for good
.error: add   r1, r1, r1        ; two bytes for each address
        load  r1, r1, .messages - 2
        call  puts
        ldi   r1, line          ; go on with the next line …
        store rs, FRAME_PC, r1
        store rs, FRAME_RS, r7  ; … and an empty stack
        reth
.messages:
        .word .syntax, .zero, .size
.syntax:
        .asciiz "? That is not a sum.\n"
.zero:  .asciiz "? Nothing can be divided by zero.\n"
.size:  .asciiz "? That needs more than 16 bits.\n"

; ── The grammar ──────────────────────────────────────────────────────────────────────────

; expression: term, then any number of `+ term` and `- term`
expression:
        enter
        call  term
.more:  call  peek
        cmpb  r2l, '+'
        jez   .plus
        cmpb  r2l, '-'
        jez   .minus
        leave                   ; whatever comes now is not ours
.plus:  call  skip_and_term
        add   r1, r8, r1
        jo    .size
        jmp   .more
.minus: call  skip_and_term
        sub   r1, r8, r1
        jno   .more
.size:  fail_size

; Passes over an operator and reads a term after it; the left side, r1, comes back in r8.
skip_and_term:
        enter
        push  r1
        call  skip
        call  term
        pop   r8
        leave

; term: factor, then any number of `* factor`, `/ factor` and `% factor`
term:   enter
        call  factor
.more:  call  peek
        cmpb  r2l, '*'
        jez   .times
        cmpb  r2l, '/'
        jez   .over
        cmpb  r2l, '%'
        jez   .rest
        leave
.times: call  skip_and_factor
        mov   r2, r8
        call  multiply_signed
        ldi   r5, 15            ; it fits if the upper half is nothing but the sign
        asr   r3, r1, r5
        cmp   r2, r3
        jez   .more
        fail_size
.over:  call  skip_and_factor
        mov   r2, r1
        mov   r1, r8
        call  divide_signed     ; by zero: trap 2
        xor   r2, r1, r4        ; r4 still has the sign that the quotient should have;
        jge   .more             ; only -32768 / -1 gets it wrong
        cmp   r1, r0
        jez   .more             ; (0 has no sign)
        fail_size
.rest:  call  skip_and_factor
        mov   r2, r1
        mov   r1, r8
        call  divide_signed
        mov   r1, r2
        jmp   .more

skip_and_factor:
        enter
        push  r1
        call  skip
        call  factor
        pop   r8
        leave

; factor: number, or ( expression ), or - factor
factor: enter
        call  peek
        cmpb  r2l, '('
        jez   .group
        cmpb  r2l, '-'
        jez   .minus
        call  number
        leave
.group: call  skip
        call  expression
        call  peek
        cmpb  r2l, ')'
        jnz   syntax
        call  skip
        leave
.minus: call  skip
        call  factor
        sub   r1, r0, r1
        jo    .size             ; -(-32768)
        leave
.size:  fail_size

; number: one digit or more
number: mov   r1, r0
        ldi   r4, 10
        load  r2l, r6, 0
        ldi   r5l, '0'
        sub   r2l, r2l, r5l
        cmp   r2l, r4l          ; unsigned: what is before '0' has become large
        jae   syntax
.digit: mul   r1, r3, r1, r4
        jc    .size
        mov   r2h, r0b          ; the digit as a wide: clear its upper half
        add   r1, r1, r2
        jc    .size
        addi  r6, 1
        load  r2l, r6, 0
        ldi   r5l, '0'
        sub   r2l, r2l, r5l
        cmp   r2l, r4l
        jb    .digit
        cmp   r1, r0            ; 32768 and more look negative
        jlt   .size
        ret
.size:  fail_size

; peek: the next character that is not a space, in r2l. Changes r5 and r6 only.
peek:   load  r2l, r6, 0
        cmpb  r2l, ' '
        jnz   .found
        addi  r6, 1
        jmp   peek
.found: ret

; skip: passes over a character.
skip:   addi  r6, 1
        ret

greeting:
        .asciiz "Type a sum with + - * / % ( ), or an empty line to stop.\n"
equals: .asciiz "= "
buffer: .space 80
.end:
