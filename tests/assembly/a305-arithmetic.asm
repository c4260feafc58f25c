.machine hex8
        .byte 1 / 0             ; !A305 this has no value
        .byte 1 << 200          ; !A305 this has no value
        .byte 1 << -1           ; !A305 this has no value
big = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF
        .byte big + 1           ; !A305 this has no value
