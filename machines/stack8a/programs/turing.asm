.machine stack8a
; turing.asm: a Turing machine, and a very busy beaver
;
; Turing's machine has a tape, a head on one of its cells, and a few states. A rule says, for
; each state and each symbol under the head, what to write, where to move, and which state
; comes next. That is all any computer needs, and here it takes fewer than forty bytes.
;
; The rules are those of the four-state champion of Rado's busy beaver game: on an empty tape
; it leaves as many ones as any machine of its size that ever halts. It takes 107 steps and
; leaves 13. (Nobody can play a game on a machine without input; so it plays with itself.)
;
; A rule is one byte, made so that no step needs a decision:
;   bit 0      the symbol to write
;   bit 1      the move: 2 - 1 = 1 is right, 0 - 1 = -1 is left
;   bits 7…4   the next state, already doubled: with the symbol added, the number of its rule
;
;   lathe run machines/stack8a/programs/turing.asm
;
; data 0x00 … 0x07  the rules, put there with the program
; data 0x10 … 0x4F  the tape; the head starts at 0x30
; data 0xFF 0xFE    steps taken, and where the head is at the end
;
; expect: data[0x10] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1
; expect: data[0x2A] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
; expect: data[0x44] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
; expect: data[0xFE] = 39, 107
; expect: sp = 254

RULES   = 0x00
START   = 0x30

        .include "lib.asm"

LEFT    = 0
RIGHT   = 2
A       = 0
B       = 2
C       = 4
D       = 6
H       = 8                     ; halt

.macro rule write, move, next
        .byte next << 4 | move | write
.endm

        x0                      ; steps
        psh START               ; steps head
        psh A                   ; steps head state
step:   ldo 1
        lda
        add                     ; the number of the rule
        psh RULES
        add
        lda                     ; steps head rule

        dup
        x1
        and
        ldo 2
        sta                     ; write

        dup
        x2
        and
        dec
        ldo 2
        add
        sto 1                   ; move

        shr 4                   ; steps head state: the next one

        ldo 2
        inc
        sto 2                   ; count
        dup
        psh H
        ieq
        unless step
        drp
        htl

        .data
        .org RULES
        rule 1, RIGHT, B        ; A, symbol 0
        rule 1, LEFT,  B        ; A, symbol 1
        rule 1, LEFT,  A        ; B
        rule 0, LEFT,  C
        rule 1, RIGHT, H        ; C
        rule 1, LEFT,  D
        rule 1, RIGHT, D        ; D
        rule 0, RIGHT, A
