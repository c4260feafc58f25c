.machine mos6502
        ldda text,x             ; !A301 mos6502 has no instruction `ldda`
text:   .byte 1
        rts
