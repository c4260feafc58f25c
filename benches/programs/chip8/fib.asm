.machine chip8
; The Fibonacci numbers by recursion: calls, returns and a stack of numbers, with v2 as its pointer. `fib`
; takes v0 and returns in v1; the twelve calls that nest fit on the machine's own stack.

start:  ld v0, 12
        call fib
        jp start

fib:    ld v3, v0
        ld v4, 2
        sub v3, v4              ; `vf` is 1 if v0 is at least 2
        se vf, 0
        jp deeper
        ld v1, v0
        ret

deeper: ld i, numbers
        add i, v2
        ld [i], v0
        add v2, 1
        add v0, 0xFF
        call fib
        add v2, 0xFF
        ld i, numbers
        add i, v2
        ld v0, [i]
        ld v5, v0
        ld v0, v1
        ld i, numbers
        add i, v2
        ld [i], v0
        add v2, 1
        ld v0, v5
        add v0, 0xFE
        call fib
        add v2, 0xFF
        ld i, numbers
        add i, v2
        ld v0, [i]
        add v1, v0
        ret

numbers:
