.machine hex8
near:   jmpfwdo r1, near        ; !A304 this is -2 cells forward, and the instruction reaches 0 to 255
        jmpbwdo r1, near
        .space 300
        jmpbwdo r1, near        ; !A304 this is 306 cells backward, and the instruction reaches 0 to 255
