.machine hex8
; An instruction that is another one every time.
loop:   add r1, r2
        loadmem r3, loop
        xorimm r3, r3, 0x0F     ; add, and eq
        storemem r3, loop
        addimm r2, r2, 3
        jmp loop
