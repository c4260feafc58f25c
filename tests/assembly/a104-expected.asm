.machine hex8
        .byte 1 2               ; !A104 unexpected `2` after a value
        .byte (1 + 2            ; !A104 expected `)`, found the end of the line
        .byte 1 ? 2             ; !A104 expected `:`, found the end of the line
        .byte r1                ; !A104 the register `r1` has no value while the program is assembled
        .byte 1,,2              ; !A104 expected a value
n =                             ; !A104 expected a value
        ) + 1                   ; !A104 a line cannot begin with `)`
