; A shift register of 16 bits with feedback, in r1 and r2.
.machine hex8

        loadimm r1, 0xAC
        loadimm r2, 0xE1
loop:   andimm r3, r2, 1
        shrimm r2, r2, 1
        shlimm r4, r1, 7
        or r2, r4
        shrimm r1, r1, 1
        xorimm r5, r3, 1
        jmpfwdo r5, skip
        xorimm r1, r1, 0xB4
skip:   addimm r6, r6, 1
        jmp loop
