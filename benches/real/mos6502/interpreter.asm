; interpreter.asm: an interpreter for a small language, at work on Collatz sequences
;
;   lathe run benches/real/mos6502/interpreter.asm -D ROUNDS=10
;
; The language has one character for each command and works on a stack:
;
;   0-9  that number            a-z  the variable      A-Z  into the variable
;   + - * &  with two numbers   >  half of a number    < =  1 or 0
;   .    into the checksum      [ ]  a loop: each [ takes a number, and 0 ends it
;   ;    the end
;
;   x    the top of the stack, growing upwards in two arrays

.machine mos6502

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

OUT     = $F001

sum     = $10                   ; 2 bytes each, the low one first
rounds  = $12
at      = $14                   ; the next character
vector  = $16
char    = $18
depth   = $19                   ; of loops
product = $1A
lows    = $20                   ; the stack, as low and high bytes
highs   = $40
names   = $80                   ; the variables
loops   = $0200                 ; where each open loop begins

        .org $0400
        .entry start

start:  lda #<ROUNDS
        sta rounds
        lda #>ROUNDS
        sta rounds+1
round:  lda #<script
        sta at
        lda #>script
        sta at+1
        ldx #0
        stx depth

; step: executes the next character.

step:   jsr fetch
        sec
        sbc #' '
        asl a
        tay
        lda commands,y
        sta vector
        lda commands+1,y
        sta vector+1
        jmp (vector)

; fetch: a = char = the next character.

fetch:  ldy #0
        lda (at),y
        sta char
        inc at
        bne .done
        inc at+1
.done:  rts

digit:  lda char
        and #15
        sta lows,x
        lda #0
        sta highs,x
        inx
        jmp step

load:   lda char
        and #31
        asl a
        tay
        lda names,y
        sta lows,x
        lda names+1,y
        sta highs,x
        inx
        jmp step

store:  dex
        lda char
        and #31
        asl a
        tay
        lda lows,x
        sta names,y
        lda highs,x
        sta names+1,y
        jmp step

plus:   dex
        clc
        lda lows-1,x
        adc lows,x
        sta lows-1,x
        lda highs-1,x
        adc highs,x
        sta highs-1,x
        jmp step

minus:  dex
        sec
        lda lows-1,x
        sbc lows,x
        sta lows-1,x
        lda highs-1,x
        sbc highs,x
        sta highs-1,x
        jmp step

both:   dex
        lda lows-1,x
        and lows,x
        sta lows-1,x
        lda highs-1,x
        and highs,x
        sta highs-1,x
        jmp step

half:   lsr highs-1,x
        ror lows-1,x
        jmp step

; The numbers are multiplied bit by bit, until the second has no more bits.

times:  dex
        lda #0
        sta product
        sta product+1
.bit:   lda lows,x
        ora highs,x
        beq .done
        lsr highs,x
        ror lows,x
        bcc .clear
        clc
        lda product
        adc lows-1,x
        sta product
        lda product+1
        adc highs-1,x
        sta product+1
.clear: asl lows-1,x
        rol highs-1,x
        jmp .bit
.done:  lda product
        sta lows-1,x
        lda product+1
        sta highs-1,x
        jmp step

less:   dex
        lda lows-1,x
        cmp lows,x
        lda highs-1,x
        sbc highs,x
        lda #0
        rol a                   ; the carry: it is not less
        eor #1
truth:  sta lows-1,x
        lda #0
        sta highs-1,x
        jmp step

equal:  dex
        ldy #0
        lda lows-1,x
        cmp lows,x
        bne .differ
        lda highs-1,x
        cmp highs,x
        bne .differ
        iny
.differ:
        tya
        jmp truth

; mix: turns the checksum by one bit to the left and adds the number.

mix:    dex
        lda sum+1
        asl a
        rol sum
        rol sum+1
        clc
        lda sum
        adc lows,x
        sta sum
        lda sum+1
        adc highs,x
        sta sum+1
nothing:
        jmp step

; A loop begins: if it is not to run, behind its end.

open:   dex
        lda lows,x
        ora highs,x
        beq .skip
        ldy depth
        lda at
        sta loops,y
        lda at+1
        sta loops+1,y
        iny
        iny
        sty depth
        jmp step
.skip:  stx product             ; x counts brackets that are open
        ldx #1
.next:  jsr fetch
        cmp #'['
        bne .other
        inx
.other: cmp #']'
        bne .next
        dex
        bne .next
        ldx product
        jmp step

; A loop ends: back to its bracket, which takes the condition.

close:  ldy depth
        dey
        dey
        sty depth
        lda loops,y
        sec
        sbc #1
        sta at
        lda loops+1,y
        sbc #0
        sta at+1
        jmp step

end:    lda rounds
        bne .low
        dec rounds+1
.low:   dec rounds
        lda rounds
        ora rounds+1
        beq .done
        jmp round
.done:  lda sum+1
        jsr put_hex
        lda sum
        jsr put_hex
        lda #'\n'
        sta OUT
        jmp *

        .include "lib.asm"

; From the space to the tilde.

commands:
        .word nothing, nothing, nothing, nothing, nothing, nothing, both, nothing
        .word nothing, nothing, times, plus, nothing, minus, mix, nothing
        .rept 10
        .word digit
        .endr
        .word nothing, end, less, equal, half, nothing, nothing
        .rept 26
        .word store
        .endr
        .word open, nothing, close, nothing, nothing, nothing
        .rept 26
        .word load
        .endr
        .word nothing, nothing, nothing, nothing

; For n from 1 to 26: how many steps from n to 1?

script: .ascii "1N 1[ nX 0L x1-[ x1&O o[x3*1+X 0] o0=[x>X 0] l1+L x1-] l. n1+N n93*< ];"
