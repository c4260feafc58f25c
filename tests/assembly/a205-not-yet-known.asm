.machine hex8
        .if size > 2            ; !A205 the address of `size` is not known yet here
        return
        .endif
        .rept count             ; !A205 the address of `count` is not known yet here
        return
        .endr
size = 5
count = 3
