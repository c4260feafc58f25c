.machine duo16
; guess.asm: guess the number
;
; Where does a machine without a clock get chance from? From the player: the letters of a
; name are mixed into the seed of the random numbers. So every name has its own number, and
; the same name always gets the same one (which is also how this program can be tested).
;
;   lathe run machines/duo16/programs/guess.asm
;
; r6  the number to guess    r7  guesses so far
;
; expect: output
; | Who is playing?
; | I think of a number from 1 to 100. Your guess?
; | Too high.
; | Too high.
; | Too low.
; | Right! Guesses: 4

HIGHEST = 100

        .include "lib.asm"

main:   ldi   r1, who
        call  puts
        call  line              ; nobody, at the end of the input, may play, too
        call  mix
        ldi   r7, 0
        ldi   r1, ask
        call  puts

turn:   call  line
        cmp   r1, r0
        jlt   over              ; no more input
        addi  r7, 1
        ldi   r1, buffer
        call  parse_unsigned
        cmp   r1, r6
        jeq   right
        ldi   r1, low           ; `ldi` leaves the flags alone
        jb    answer
        ldi   r1, high
answer: call  puts
        jmp   turn

right:  ldi   r1, won
        call  puts
        mov   r1, r7
        call  print_unsigned
        emit  '\n'
        halt

over:   ldi   r1, given_up
        call  puts
        mov   r1, r6
        call  print_unsigned
        emit  '\n'
        halt

; line: reads a line into the buffer; its length, or -1, in r1.
line:   enter
        ldi   r1, buffer
        ldi   r2, buffer.end - buffer
        call  read_line
        leave

; mix: makes a number from 1 to HIGHEST, in r6, of the name in the buffer.
mix:    enter
        ldi   r6, buffer
.next:  load  r1l, r6, 0
        cmp   r1l, r0b
        jez   .done
        load  r2l, r0, random.seed
        xor   r1l, r1l, r2l     ; one letter into the lower byte …
        store r0, random.seed, r1l
        call  random            ; … and shake
        addi  r6, 1
        jmp   .next
.done:  call  random
        ldi   r2, HIGHEST
        div   r1, r6, r1, r2
        addi  r6, 1
        leave

who:    .asciiz "Who is playing?\n"
ask:    .asciiz "I think of a number from 1 to 100. Your guess?\n"
low:    .asciiz "Too low.\n"
high:   .asciiz "Too high.\n"
won:    .asciiz "Right! Guesses: "
given_up:
        .asciiz "It was "
buffer: .space 40
.end:
