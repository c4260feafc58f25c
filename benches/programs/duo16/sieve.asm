; Primes below 8192, by crossing out: flags at 0x4000.
.machine duo16

        ldi r10, 1
start:  ldi r1, 0x4000
        ldi r2, 0
        ldi r3, 0x6000
clear:  store r1, 0, r2l
        add r1, r1, r10
        sub r0, r1, r3
        jb clear
        ldi r4, 2
outer:  ldi r5, 0x4000
        load r6b, r5, r4
        sub r0, r6, r10
        jez next
        add r1, r5, r4
inner:  add r1, r1, r4
        sub r0, r1, r3
        jae next
        store r1, 0, r10b
        jmp inner
next:   add r4, r4, r10
        ldi r7, 91
        sub r0, r4, r7
        jb outer
        jmp start
