; A shift register of 8 bits with feedback, on the stack.
.machine stack8b

        xAC
loop:   dup
        shr 1
        swp
        x1
        and
        nez
        xB8
        and
        xor
        psh loop
        sti
