.machine duo16
; hanoi.asm: the Towers of Hanoi
;
; To move four discs from 1 to 3: move three out of the way to 2, move the largest, move the
; three on top of it. The routine calls itself to do the threes, then twos, then ones.
;
; The arguments travel on the stack. `call` puts the way back in rl, not on the stack, so on
; entry the last argument pushed is at rs + 0. The routine saves rl (it calls itself), and
; goes back with `ret 8`, which drops the four arguments in the same breath.
;
;   lathe run machines/duo16/programs/hanoi.asm
;
; r6  how many discs    r7  from which peg    r8  to which    r9  by way of

DISCS   = 4

        .include "lib.asm"

.macro hanoi_call from, to, via ; moves r6 discs
        push  r6
        push  from
        push  to
        push  via
        call  hanoi
.endm

main:   ldi   r6, DISCS
        ldi   r7, 1
        ldi   r8, 3
        ldi   r9, 2
        hanoi_call r7, r8, r9
        load  r1, r0, moves
        call  print_unsigned
        ldi   r1, words
        call  puts
        halt

hanoi:  push  rl                ; now the arguments are at rs + 2
        load  r6, rs, 8
        cmp   r6, r0
        jez   .done
        call  .arguments
        subi  r6, 1
        hanoi_call r7, r9, r8   ; the smaller ones out of the way …
        call  .arguments        ; (they used the same registers: look again)
        call  .move             ; … the large one where it belongs …
        subi  r6, 1
        hanoi_call r9, r8, r7   ; … and the smaller ones on top of it
.done:  pop   rl
        ret   8

.arguments:                     ; the four of this call, from below its saved rl
        load  r6, rs, 8
        load  r7, rs, 6
        load  r8, rs, 4
        load  r9, rs, 2
        ret

.move:  push  rl                ; prints `disc 4: 1 -> 3`
        ldi   r1, disc
        call  puts
        mov   r1, r6
        call  print_unsigned
        ldi   r1, colon
        call  puts
        mov   r1, r7
        call  print_unsigned
        ldi   r1, arrow
        call  puts
        mov   r1, r8
        call  print_unsigned
        emit  '\n'
        load  r1, r0, moves
        addi  r1, 1
        store r0, moves, r1
        pop   rl
        ret

disc:   .asciiz "disc "
colon:  .asciiz ": "
arrow:  .asciiz " -> "
words:  .asciiz " moves\n"
moves:  .word 0
