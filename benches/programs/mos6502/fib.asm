; The Fibonacci numbers by recursion: calls, returns and the stack.
.machine mos6502

result  = $10

        .org $0400
        .entry start

start:  lda #18
        jsr fib
        jmp start

fib:    cmp #2
        bcc base
        pha
        sec
        sbc #1
        jsr fib
        pla
        tax
        lda result
        pha
        txa
        sec
        sbc #2
        jsr fib
        pla
        clc
        adc result
        sta result
        rts
base:   sta result
        rts
