; hanoi.asm: solves the Towers of Hanoi with four discs
;
;   lathe run machines/hex8/programs/hanoi.asm
;
; The idea: to bring n discs from one peg to another, bring the n-1 upper ones to
; the third peg, move the largest, and bring the n-1 back on top of it. The same
; routine does the two smaller tasks: it calls itself, and what it still needs
; waits on the stack.
;
; No register is spent on the third peg: the letters A, B, C always add up to the
; same sum, so it is what the other two leave of it.
;
;   r1       how many discs
;   r2, r3   from which peg, to which peg ('A', 'B', 'C')
;   r4       a truth value
;   r5       moves made

.machine hex8

DISCS   = 4

        loadimm r1, DISCS
        loadimm r2, 'A'
        loadimm r3, 'C'
        call    hanoi
        mov     r0, r5
        call    put_dec
        call    print
        .asciiz " moves\n"
        jmp     $

; hanoi: brings r1 discs from peg r2 to peg r3. Keeps all three.

hanoi:  eqimm   r4, r1, 0
        jmpfwdo r4, .done               ; nothing to do

        dec     r1
        push    r3
        call    third                   ; r3 = the peg that is neither
        call    hanoi                   ; the upper discs out of the way
        pop     r3

        inc     r1
        call    move
        dec     r1

        push    r2
        push    r3
        call    third
        mov     r2, r3                  ; from there
        pop     r3
        call    hanoi                   ; the upper discs on top again
        pop     r2
        inc     r1
.done:  return

; third: r3 = the peg that is neither r2 nor r3.

third:  add     r3, r2
        not     r3                      ; sum - r3 is sum + 1 + not r3
        addimm  r3, r3, lo('A' + 'B' + 'C' + 1)
        return

; move: tells about moving disc r1 from r2 to r3.

move:   inc     r5
        call    print
        .asciiz "disc "
        mov     r0, r1
        call    put_dec
        call    print
        .asciiz ": "
        output  r2
        call    print
        .asciiz " to "
        output  r3
        call    newline
        return

.include "lib.asm"
