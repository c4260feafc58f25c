.machine hex8
start:  jmp strat               ; !A201 `strat` is not defined
        jmp start
        jmp .loop               ; !A201 `start.loop` is not defined
        jmp :+                  ; !A201 there is no such anonymous label
        .export nothing         ; !A201 `nothing` is not defined
