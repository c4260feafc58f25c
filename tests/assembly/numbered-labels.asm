.machine hex8
1:      jmp 1b
        jmp 2f                  ; !A201 there is no such numbered label on that side of this line
1:      jmp 3b                  ; !A201 there is no such numbered label on that side of this line
