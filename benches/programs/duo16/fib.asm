; The Fibonacci numbers by recursion: calls, returns and the stack.
.machine duo16

start:  ldi r1, 15
        call fib
        jmp start
fib:    ldi r3, 2
        sub r0, r1, r3
        jae rec
        or r2, r1, r0
        ret 0
rec:    push rl
        push r1
        ldi r3, 1
        sub r1, r1, r3
        call fib
        pop r1
        push r2
        ldi r3, 2
        sub r1, r1, r3
        call fib
        pop r3
        add r2, r2, r3
        pop rl
        ret 0
