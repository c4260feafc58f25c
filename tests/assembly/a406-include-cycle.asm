.machine hex8
        .include "one.asm"      ; the cycle is reported in two.asm
