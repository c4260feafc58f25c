.machine hex8
        .byte 1 2               ; !A104 the expression ends before this
        .byte (1 + 2            ; !A104 `)` is wanted here
        .byte 1 ? 2             ; !A104 `:` is wanted here
        .byte r1                ; !A104 a register is not a value that is known in advance
        .byte 1,,2              ; !A104 a value is missing here
n =                             ; !A104 a value is missing here
        ) + 1                   ; !A104 a line does not begin with `)`
