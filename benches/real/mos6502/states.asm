; states.asm: a machine with 160 states, reached through one jump
;
;   lathe run benches/real/mos6502/states.asm -D ROUNDS=100
;
; Each state mixes a random byte into the checksum in its own way and chooses one
; of two states to be next, by one bit of that byte. The dispatcher finds its
; address in a table and jumps there, as the main loop of a game or of a virtual
; machine does: all states hang on a single computed jump.

.machine mos6502

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

STATES  = 160
STEPS   = 2000
OUT     = $F001

random  = $10                   ; 2 bytes each, the low one first
four    = $12
sum     = $14
steps   = $16
rounds  = $18
vector  = $1A

        .org $0400
        .entry start

start:  lda #<ROUNDS
        sta rounds
        lda #>ROUNDS
        sta rounds+1
round:  lda #<STEPS
        sta steps
        lda #>STEPS
        sta steps+1
        ldx #0

; dispatch: goes on with state x, unless the round is over.

dispatch:
        lda low,x
        sta vector
        lda high,x
        sta vector+1
        jsr next
        lda steps
        bne .low
        dec steps+1
.low:   dec steps
        lda steps
        ora steps+1
        beq over
        lda random+1
        jmp (vector)

over:   lda rounds
        bne .low
        dec rounds+1
.low:   dec rounds
        lda rounds
        ora rounds+1
        bne round
        lda sum+1
        jsr put_hex
        lda sum
        jsr put_hex
        lda #'\n'
        sta OUT
        jmp *

; next: random = 5 * random + $3619

next:   lda random
        sta four
        lda random+1
        asl four
        rol a
        asl four
        rol a
        sta four+1
        clc
        lda four
        adc random
        sta random
        lda four+1
        adc random+1
        sta random+1
        clc
        lda random
        adc #$19
        sta random
        lda random+1
        adc #$36
        sta random+1
        rts

        .include "lib.asm"

states:
        .rept STATES, n
        clc                     ; a is the upper half of the random number
        adc #n * 7 & 255
        eor sum
        sta sum
        lda sum+1
        adc #n & 255
        sta sum+1
        .if n % 3 == 0
        asl sum
        rol sum+1
        .elif n % 3 == 1
        lsr sum+1
        ror sum
        .else
        inc sum+1
        dec sum
        .endif
        ldx #(n * 3 + 11) % STATES
        lda random+1
        and #1 << n % 8
        beq .next
        ldx #(n * 5 + 3) % STATES
.next:  jmp dispatch
        .endr
LENGTH  = ($ - states) / STATES

low:    .rept STATES, n
        .byte <(states + n * LENGTH)
        .endr
high:   .rept STATES, n
        .byte >(states + n * LENGTH)
        .endr
