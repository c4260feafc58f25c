.machine hex8
        loadimm r1, 12ab        ; !A102 this number cannot be read
        loadimm r1, 0x          ; !A102 this number cannot be read
        .byte 0b102             ; !A102 this number cannot be read
