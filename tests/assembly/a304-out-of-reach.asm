.machine hex8
near:   jmpfwdo r1, near        ; !A304 this is -2 cells away, counted forward, and 0 to 255 can be reached
        jmpbwdo r1, near
        .space 300
        jmpbwdo r1, near        ; !A304 this is 306 cells away, counted backward, and 0 to 255 can be reached
