.machine aligned
        b 3                     ; !A306 3 is not a multiple of 2
        b 4
