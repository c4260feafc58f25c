; The Fibonacci numbers by recursion: calls, returns and the stack.
.machine hex8

start:  loadimm r1, 18
        call fib
        jmp start
fib:    ltimm r3, r1, 2
        jmpo r3, base
        push r1
        subimm r1, r1, 1
        call fib
        pop r1
        push r2
        subimm r1, r1, 2
        call fib
        pop r3
        add r2, r3
        return
base:   orimm r2, r1, 0
        return
