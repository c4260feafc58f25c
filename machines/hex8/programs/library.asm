; library.asm: a tour of lib.asm
;
;   lathe run machines/hex8/programs/library.asm
;
; Calls each routine of the library once or twice and says what came out. Read it
; next to lib.asm to see how the routines are used.
;
;   r0 .. r3   arguments and results, as the library wants them
;   r4         counts
;
; expect: output
; | A tour of the library
; | 202 is 0xCA
; | 255 * 255 = 65025
; | 65025 / 100 = 650, remainder 25
; | lathe has letters: 5
; | the same word
; | another word
; | dice: 3 1 1 2 5 3 5 2 2 2

.machine hex8

; print: the text follows the call, and the program goes on behind it.

        call    print
        .asciiz "A tour of the library\n"

; put_dec and put_hex: one number in two bases.

        loadimm r0, 202
        call    put_dec
        call    print
        .asciiz " is 0x"
        call    put_hex
        call    newline

; mul16: bytes in, sixteen bits out.

        loadimm r0, 255
        loadimm r1, 255
        call    mul16
        call    print
        .asciiz "255 * 255 = "
        call    put_dec16
        call    newline

; div16: quotient and remainder at once.

        loadimm r2, 100
        call    div16
        call    print
        .asciiz "65025 / 100 = "
        call    put_dec16
        call    print
        .asciiz ", remainder "
        mov     r0, r3
        call    put_dec
        call    newline

; puts, strlen: a text somewhere else.

        loadimm r2, hi(word)
        loadimm r3, lo(word)
        call    puts
        call    strlen
        call    print
        .asciiz " has letters: "
        call    put_dec
        call    newline

; streq: the same word twice, then another.

        loadimm r0, hi(twin)
        loadimm r1, lo(twin)
        call    streq
        call    tell
        loadimm r0, hi(other)
        loadimm r1, lo(other)
        loadimm r2, hi(word)
        loadimm r3, lo(word)
        call    streq
        call    tell

; random: ten throws of a die.

        call    print
        .asciiz "dice:"
        loadimm r4, 10
throw:  call    print
        .asciiz " "
        call    random
        shrimm  r0, r0, 4               ; the better bits
        modimm  r0, r0, 6
        inc     r0
        call    put_dec
        dec     r4
        neqimm  r0, r4, 0
        jmpbwdo r0, throw
        call    newline
        jmp     $

; tell: says whether r0 is 1.

tell:   jmpo    r0, .same
        call    print
        .asciiz "another word\n"
        return
.same:  call    print
        .asciiz "the same word\n"
        return

word:   .asciiz "lathe"
twin:   .asciiz "lathe"
other:  .asciiz "lath"

.include "lib.asm"
