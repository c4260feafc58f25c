.machine duo16
; Copies 256 bytes again and again. The addresses are in the instructions that load and store.
        ldi r10, 1
        ldi r2, 0
loop:   load r1l, r0, 0x2000
from    = $ - 2
        add r3, r3, r1
        add r1, r1, r10
        store r0, 0x3000, r1l
to      = $ - 2
        add r2, r2, r10
        store r0, from, r2l
        store r0, to, r2l
        jmp loop
