; The Fibonacci numbers by recursion; the stack is in page 0x80, the result in c.
.machine quad8

        li a, 128
        stackpage a
start:  li a, 14
        clr c
        call fib
        jmp start
fib:    push d
        mov b, a
        dec b
        dec b
        jge b, rec
        add c, a
        pop d
        ret
rec:    push a
        dec a
        call fib
        pop a
        dec a
        dec a
        call fib
        pop d
        ret
