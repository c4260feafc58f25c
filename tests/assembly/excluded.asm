; operands that the `where` of a row rules out
.machine pdp8

        iot 14, 1
        iot 3, 1                ; !A302 `iot D, C` cannot have these operands
