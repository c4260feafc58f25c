.machine hex8
        loadimm r1, 256         ; !A303 256 does not fit in 8 bits
        loadimm r1, -129        ; !A303 -129 does not fit in 8 bits
        .byte 300               ; !A303 300 does not fit in 8 bits
        .word 70000             ; !A303 70000 does not fit in 16 bits
        loadmem r1, 0x10000     ; !A303 65536 does not fit in 16 bits
        jmpfwdo r1, 256         ; !A303 256 does not fit in 8 bits
