; guess.asm: a guessing game
;
;   lathe run machines/quad8/programs/guess.asm
;
; The machine thinks of a number from 1 to 100 and you guess it. Type a number and
; press return; the end of the input ends the game.
;
; The idea: a machine without a clock knows nothing that it did not know the last
; time, so where should a secret come from? From you: the letters of your name are
; added up, and what remains after dividing by 100 is the number. Do not tell anyone
; that the same name always gets the same number.
;
;   a, b     arguments and results of the library
;   page     `say` sets it to the texts; `vars` is set where a variable is needed
;
; expect: output
; | What is your name? I am thinking of a number from 1 to 100.
; | Your guess? Too high.
; | Your guess? Too high.
; | Your guess? Too high.
; | Your guess? Too low.
; | Your guess? Too high.
; | Your guess? Yes! Guesses you needed: 6.

.machine quad8
.include "macros.asm"

STACK   = 0x1000

.macro say text
        setpage text
        li      a, text
        farcall puts
.endm

        stack_at STACK
        say     welcome

; Add up the name: everything until the line or the input ends.

        clr     a
letter: in      b
        jz      b, named
        li      c, '\n'
        sub     b, c
        jz      b, named
        add     b, c
        add     a, b
        goto    letter

named:  li      b, 100
        farcall divide
        inc     b                       ; the remainder, 0 to 99, plus 1
        setpage secret
        put     b, secret
        say     thought

; One guess. Nothing read and nothing more to read: the player has left.

guess:  say     prompt
        farcall get_dec
        jnz     b, judge
        jz      a, left
judge:  setpage secret
        get     b, tries
        inc     b
        put     b, tries
        get     b, secret
        farcall compare                 ; a = -1, 0, 1
        jz      a, right
        jl      a, low
        say     too_high
        goto    guess
low:    say     too_low
        goto    guess

right:  say     yes
        setpage tries
        get     a, tries
        farcall put_dec
        say     guesses
        halt

left:   say     goodbye
        halt

.include "lib.asm"

.org 0x0800
secret: .byte   0
tries:  .byte   0

.org 0x0900
welcome:
        .asciiz "What is your name? "
thought:
        .asciiz "I am thinking of a number from 1 to 100.\n"
prompt: .asciiz "Your guess? "
too_high:
        .asciiz "Too high.\n"
too_low:
        .asciiz "Too low.\n"
yes:    .asciiz "Yes! Guesses you needed: "
guesses:
        .asciiz ".\n"
goodbye:
        .asciiz "\nAnother time, then.\n"
.assert hi(welcome) == hi($ - 1), "the texts cross a page"
