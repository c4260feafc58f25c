.machine hex8
        .rept 1100
        .include "empty.asm"    ; !A901 `empty.asm` is too large, or there are too many files
        .endr
