.machine hex8
.macro two first, second
        .byte first, second
.endm
        two 1                   ; !A409 `two` needs a value for `second`
        two 1, 2, 3             ; !A409 `two` takes 2 arguments, found 3
