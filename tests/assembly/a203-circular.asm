.machine hex8
a1 = b1 + 1
b1 = a1                         ; !A203 `a1` is defined by itself
        .byte a1
