.machine hex8
        .include "missing.asm"          ; !A405 cannot read `missing.asm`
        .incbin "four.bin", 3, 2        ; !A405 `four.bin` has only 4 bytes
