.machine rv32i
        .space 0x4000000        # ; !A901 the program has more than 33554432 cells
