.machine hex8
a1 = b1 + 1
b1 = a1                         ; !A203 `a1` is defined in terms of itself
        .byte a1
