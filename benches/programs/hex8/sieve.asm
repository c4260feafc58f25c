; Primes below 8192, by crossing out: flags at 0x4000. Again and again, as all programs here.
.machine hex8

start:  loadimm r0, 0
        loadimm r2, 0x40
        loadimm r3, 0
clear:  storeind r0, r2, r3
        addimm r3, r3, 1
        eqimm r4, r3, 0
        add r2, r4
        ltimm r4, r2, 0x60
        jmpbwdo r4, clear
        loadimm r5, 2
outer:  loadimm r2, 0x40
        orimm r3, r5, 0
        loadind r4, r2, r3
        jmpo r4, next
        loadimm r6, 1
inner:  add r3, r5
        orimm r7, r3, 0
        lt r7, r5
        add r2, r7
        storeind r6, r2, r3
        ltimm r8, r2, 0x60
        jmpbwdo r8, inner
next:   addimm r5, r5, 1
        ltimm r4, r5, 91
        jmpo r4, outer
        jmp start
