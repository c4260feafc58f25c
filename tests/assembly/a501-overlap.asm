.machine hex8
        .byte 1, 2, 3
        .org 2
        .byte 4                 ; !A501 two lines fill address 0x2 of `ram`
