.machine hex8
        .rept 1000001           ; !A903 1000001 repetitions are not possible
        return
        .endr
        .rept -1                ; !A903 -1 repetitions are not possible
        .endr
