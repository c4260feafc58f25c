.machine hex8
        .if size > 2            ; !A205 `size` is not defined before this line
        return
        .endif
        .rept count             ; !A205 `count` is not defined before this line
        return
        .endr
size = 5
count = 3
start:  .if start               ; !A205 the address of `start` is not known yet here
        .endif
        .if $ > 5               ; !A205 the address of this line is not known yet here
        .endif
