; decimal.asm: powers of two with sixteen digits
;
;   lathe run machines/msp430/programs/decimal.asm
;
; The idea: `dadd` adds numbers whose every four bits are a digit, with the carry. Four words are sixteen digits, and a
; number added to itself is doubled. `@r5+` goes through the words.
;
; expect: output "1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 \n9007199254740992\n"

.machine msp430

number  = 0x0200                ; the lowest word first

main:   mov #0x0A00, sp
        mov #1, &number
        clr r8
        mov #17, r9
first:  call #show
        mov #' ', r12
        call #putc
        call #double
        inc r8
        dec r9
        jnz first
        call #newline
second: call #double
        inc r8
        cmp #53, r8
        jne second
        call #show
        call #newline
        halt

double: mov #number, r5
        mov #4, r6
        clr r7                  ; the flags between two words: `dec` has its own
.next:  mov r7, sr
        dadd @r5, 0(r5)
        mov sr, r7
        incd r5
        dec r6
        jnz .next
        ret

show:   mov #number + 8, r5
        clr r14                 ; whether a digit was printed
.word:  decd r5
        mov @r5, r15
        mov #4, r6
.digit: call #put_digit
        dec r6
        jnz .digit
        cmp #number, r5
        jne .word
        ret

        .include "lib.asm"
