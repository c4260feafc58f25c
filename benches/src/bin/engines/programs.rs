//! The benchmark programs. They run for ever; a benchmark is a number of steps.

/// A program of one machine.
pub(crate) struct Program {
    pub(crate) machine: &'static str,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

#[rustfmt::skip]
pub(crate) const ALL: &[Program] = &[
    Program { machine: "hex8",    name: "sieve", text: HEX8_SIEVE },
    Program { machine: "hex8",    name: "lfsr",  text: HEX8_LFSR },
    Program { machine: "hex8",    name: "crc8",  text: HEX8_CRC8 },
    Program { machine: "hex8",    name: "fib",   text: HEX8_FIB },
    Program { machine: "hex8",    name: "patch", text: HEX8_PATCH },
    Program { machine: "hex8",    name: "flip",  text: HEX8_FLIP },
    Program { machine: "quad8",   name: "marks", text: QUAD8_MARKS },
    Program { machine: "quad8",   name: "lfsr",  text: QUAD8_LFSR },
    Program { machine: "quad8",   name: "fib",   text: QUAD8_FIB },
    Program { machine: "duo16",   name: "sieve", text: DUO16_SIEVE },
    Program { machine: "duo16",   name: "lfsr",  text: DUO16_LFSR },
    Program { machine: "duo16",   name: "crc8",  text: DUO16_CRC8 },
    Program { machine: "duo16",   name: "fib",   text: DUO16_FIB },
    Program { machine: "duo16",   name: "patch", text: DUO16_PATCH },
    Program { machine: "stack8a", name: "lfsr",  text: STACK8_LFSR },
    Program { machine: "stack8a", name: "crc8",  text: STACK8A_CRC8 },
    Program { machine: "stack8a", name: "fib",   text: STACK8A_FIB },
    Program { machine: "stack8b", name: "lfsr",  text: STACK8_LFSR },
    Program { machine: "stack8b", name: "crc8",  text: STACK8B_CRC8 },
    Program { machine: "stack8b", name: "fib",   text: STACK8B_FIB },
];

/// Primes below 8192: flags at 0x4000.
const HEX8_SIEVE: &str = "
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
";

/// A shift register of 16 bits in r1 and r2.
const HEX8_LFSR: &str = "
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
";

/// The CRC of the 256 bytes at 0x2000, again and again.
const HEX8_CRC8: &str = "
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
";

const HEX8_FIB: &str = "
start:  loadimm r1, 18
        call fib
        jmp start
fib:    ltimm r3, r1, 2
        jmpo r3, base
        push r1
        subimm r1, r1, 1
        call fib
        pop r1
        push r2
        subimm r1, r1, 2
        call fib
        pop r3
        add r2, r3
        return
base:   orimm r2, r1, 0
        return
";

/// Copies 256 bytes again and again. The addresses are in the instructions that load and
/// store, and the program counts them up there, as programs without index registers do.
const HEX8_PATCH: &str = "
        loadimm r2, 0
        loadimm r3, 0
loop:   loadmem r1, 0x2000
        add r3, r1
        addimm r1, r1, 1
        storemem r1, 0x3000
        addimm r2, r2, 1
        storemem r2, 6      ; the low byte of 0x2000
        storemem r2, 14     ; the low byte of 0x3000
        jmp loop
";

/// An instruction that is another one every time.
const HEX8_FLIP: &str = "
loop:   add r1, r2
        loadmem r3, loop
        xorimm r3, r3, 0x0F ; add, and eq
        storemem r3, loop
        addimm r2, r2, 3
        jmp loop
";

/// Marks in a page of memory at every stride.
const QUAD8_MARKS: &str = "
start:  sli a, 1
        sli a, 0
        page a
        sub a, a
        sub b, b
clear:  store b, [a]
        inc a
        sli d, hi(clear)
        sli d, lo(clear)
        skipz a
        jalr d, [d]
outer:  sub a, a
        sli c, 1
        sli c, 0
inner:  add a, b
        store b, [a]
        dec c
        sli d, hi(inner)
        sli d, lo(inner)
        skipz c
        jalr d, [d]
        inc b
        sli d, hi(outer)
        sli d, lo(outer)
        skipz b
        jalr d, [d]
        sli d, hi(start)
        sli d, lo(start)
        jalr d, [d]
";

const QUAD8_LFSR: &str = "
        sli a, 0
        sli a, 1
        sli c, 1
        sli c, 13
loop:   sub b, b
        skipge a
        add b, c
        add a, a
        sub d, d
        add d, a
        nand d, b
        nand a, d
        nand b, d
        nand a, b
        sli d, hi(loop)
        sli d, lo(loop)
        jalr d, [d]
";

/// The stack is in page 0x80, the result in c.
const QUAD8_FIB: &str = "
        sli a, 8
        sli a, 0
        stackpage a
start:  sli a, 0
        sli a, 14
        sub c, c
        sli d, hi(fib)
        sli d, lo(fib)
        jalr d, [d]
        sli d, hi(start)
        sli d, lo(start)
        jalr d, [d]
fib:    push d
        sub b, b
        add b, a
        dec b
        dec b
        sli d, hi(rec)
        sli d, lo(rec)
        skipl b
        jalr d, [d]
        add c, a
        pop d
        jalr d, [d]
rec:    push a
        dec a
        sli d, hi(fib)
        sli d, lo(fib)
        jalr d, [d]
        pop a
        dec a
        dec a
        sli d, hi(fib)
        sli d, lo(fib)
        jalr d, [d]
        pop d
        jalr d, [d]
";

const DUO16_SIEVE: &str = "
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
";

const DUO16_LFSR: &str = "
        ldi r1, 0xACE1
        ldi r2, 1
        ldi r3, 0xB400
loop:   and r4, r1, r2
        lsr r1, r1, r2
        sub r0, r4, r0
        jez skip
        xor r1, r1, r3
skip:   add r5, r5, r2
        jmp loop
";

const DUO16_CRC8: &str = "
        ldi r2, 0x2000
        ldi r8, 1
        ldi r6, 0x100
        ldi r9, 0x107
byte:   load r3l, r2, 0
        xor r1, r1, r3
        ldi r5, 8
bit:    add r1, r1, r1
        and r4, r1, r6
        jez skip
        xor r1, r1, r9
skip:   sub r5, r5, r8
        jnz bit
        add r2, r2, r8
        ldi r4, 0x2100
        sub r0, r2, r4
        jb byte
        ldi r2, 0x2000
        jmp byte
";

const DUO16_FIB: &str = "
start:  ldi r1, 15
        call fib
        jmp start
fib:    ldi r3, 2
        sub r0, r1, r3
        jae rec
        or r2, r1, r0
        ret 0
rec:    push rl
        push r1
        ldi r3, 1
        sub r1, r1, r3
        call fib
        pop r1
        push r2
        ldi r3, 2
        sub r1, r1, r3
        call fib
        pop r3
        add r2, r2, r3
        pop rl
        ret 0
";

/// The same copy with the addresses in the instructions.
const DUO16_PATCH: &str = "
        ldi r10, 1
        ldi r2, 0
loop:   load r1l, r0, 0x2000
        add r3, r3, r1
        add r1, r1, r10
        store r0, 0x3000, r1l
        add r2, r2, r10
        store r0, 10, r2l   ; the low byte of 0x2000
        store r0, 20, r2l   ; the low byte of 0x3000
        jmp loop
";

/// One byte on the stack.
const STACK8_LFSR: &str = "
        .byte 1, 0xAC
loop:   dup
        shr 1
        swp
        .byte 0xF1
        and
        nez
        .byte 1, 0xB8
        and
        xor
        .byte 1, loop
        sti
";

/// Crc and counter on the stack; the pointer is at data 0, the bytes behind it.
const STACK8A_CRC8: &str = "
        .byte 0xF0
byte:   .byte 0xF0
        lda
        lda
        xor
        .byte 0xF8
bit:    swp
        dup
        shl 1
        swp
        shr 7
        nez
        .byte 0xF7
        and
        xor
        swp
        dec
        dup
        nez
        .byte 1, bit^after
        and
        .byte 1, after
        xor
        sti
after:  drp
        .byte 0xF0
        lda
        inc
        .byte 1, 0x7F
        and
        .byte 0xF0
        sta
        .byte 1, byte
        sti
";

const STACK8B_CRC8: &str = "
        .byte 0xF0
byte:   .byte 0xF0
        lda
        lda
        xor
        .byte 0xF8
bit:    swp
        dup
        shl 1
        swp
        shr 7
        nez
        .byte 0xF7
        and
        xor
        swp
        dec
        dup
        .byte 0xF0
        ieq
        .byte 0xC3
        .byte 1, bit
        sti
        drp
        .byte 0xF0
        lda
        inc
        .byte 1, 0x7F
        and
        .byte 0xF0
        sta
        .byte 1, byte
        sti
";

/// Called with the argument and the return address on the stack.
const STACK8A_FIB: &str = "
start:  .byte 0xFA
        .byte 1, back
        .byte 1, fib
        sti
back:   drp
        .byte 1, start
        sti
fib:    ldo 1
        .byte 0xF1
        igt
        .byte 1, rec^base
        and
        .byte 1, base
        xor
        sti
base:   sti
rec:    ldo 1
        dec
        .byte 1, one
        .byte 1, fib
        sti
one:    ldo 2
        dec
        dec
        .byte 1, two
        .byte 1, fib
        sti
two:    add
        sto 1
        sti
";

const STACK8B_FIB: &str = "
start:  .byte 0xFA
        .byte 1, back
        .byte 1, fib
        sti
back:   drp
        .byte 1, start
        sti
fib:    ldo 1
        .byte 0xF1
        igt
        .byte 0xC1
        sti
rec:    ldo 1
        dec
        .byte 1, one
        .byte 1, fib
        sti
one:    ldo 2
        dec
        dec
        .byte 1, two
        .byte 1, fib
        sti
two:    add
        sto 1
        sti
";
