.machine quad8
        load a, b               ; !A302 expected `[`, found `b`
        load a, [5]             ; !A302 expected one of a, b, c, d, found `5`
        sub a                   ; !A302 expected `,`, found the end of the line
        inc a, b                ; !A302 unexpected `,` after the instruction
        li e, 5                 ; !A302 expected one of a, b, c, d, found `e`
