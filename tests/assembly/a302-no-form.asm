.machine quad8
        load a, b               ; !A302 `[` is wanted here, but `b` stands there
        load a, [5]             ; !A302 operand 2 must be one of a, b, c, d, but `5` stands there
        sub a                   ; !A302 `,` is wanted here, but the line ends
        inc a, b                ; !A302 the instruction is complete, but `,` stands there
        li e, 5                 ; !A302 operand 1 must be one of a, b, c, d, but `e` stands there
