; The Fibonacci numbers by recursion, called with the argument and the return address on the stack.
.machine stack8b

start:  xA
        psh back
        psh fib
        sti
back:   drp
        psh start
        sti
fib:    ldo 1
        x1
        igt
        skp rec
        sti
rec:    ldo 1
        dec
        psh one
        psh fib
        sti
one:    ldo 2
        dec
        dec
        psh two
        psh fib
        sti
two:    add
        sto 1
        sti
