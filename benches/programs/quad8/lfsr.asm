; A shift register of 8 bits with feedback, in a.
.machine quad8

        li a, 1
        li c, 29
loop:   clr b
        skipge a
        add b, c
        add a, a
        mov d, a
        nand d, b
        nand a, d
        nand b, d
        nand a, b
        jmp loop
