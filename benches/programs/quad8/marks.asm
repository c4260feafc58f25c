; Marks in a page of memory at every stride.
.machine quad8

start:  li a, 16
        page a
        clr a
        clr b
clear:  store b, [a]
        inc a
        jnz a, clear
outer:  clr a
        li c, 16
inner:  add a, b
        store b, [a]
        dec c
        jnz c, inner
        inc b
        jnz b, outer
        jmp start
