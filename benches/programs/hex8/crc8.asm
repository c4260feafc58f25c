; The CRC of the 256 bytes at 0x2000.
.machine hex8

        loadimm r1, 0xFF
        loadimm r2, 0x20
byte:   loadind r4, r2, r3
        xor r1, r4
        loadimm r5, 8
bit:    shrimm r6, r1, 7
        shlimm r1, r1, 1
        xorimm r6, r6, 1
        jmpfwdo r6, skip
        xorimm r1, r1, 7
skip:   subimm r5, r5, 1
        neqimm r7, r5, 0
        jmpbwdo r7, bit
        addimm r3, r3, 1
        jmp byte
