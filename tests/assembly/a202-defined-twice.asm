.machine hex8
here:   jmp here
here:   jmp here                ; !A202 `here` is defined twice
n = 1
n = 2                           ; !A202 `n` is defined twice
.macro m
.endm
.macro m                        ; !A202 the macro `m` is defined twice
.endm
