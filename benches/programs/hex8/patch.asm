.machine hex8
; Copies 256 bytes again and again. The addresses are in the instructions that load and store, and
; the program counts them up there, as programs without index registers do.
        loadimm r2, 0
        loadimm r3, 0
loop:   loadmem r1, 0x2000
from    = $ - 1
        add r3, r1
        addimm r1, r1, 1
        storemem r1, 0x3000
to      = $ - 1
        addimm r2, r2, 1
        storemem r2, from
        storemem r2, to
        jmp loop
