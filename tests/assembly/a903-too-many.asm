.machine hex8
        .rept 1000001           ; !A903 cannot repeat 1000001 times
        return
        .endr
        .rept -1                ; !A903 cannot repeat -1 times
        .endr
