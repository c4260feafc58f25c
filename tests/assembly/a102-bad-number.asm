.machine hex8
        loadimm r1, 12ab        ; !A102 this is not a number
        loadimm r1, 0x          ; !A102 this is not a number
        .byte 0b102             ; !A102 this is not a number
