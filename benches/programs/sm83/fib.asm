; The Fibonacci numbers by recursion: calls, returns and the stack. fib takes a and returns in b.
.machine sm83

        .org $0150
        .entry start

start:  ld sp, $E000
loop:   ld a, 18
        call fib
        jr loop

fib:    cp 2
        jr c, base
        push af
        dec a
        call fib
        pop af
        push bc
        sub 2
        call fib
        pop de
        ld a, b
        add a, d
        ld b, a
        ret
base:   ld b, a
        ret
