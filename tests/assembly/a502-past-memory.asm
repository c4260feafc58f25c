.machine stack8a
        .org 255
        x2A                     ; !A502 `prog` has 256 cells, and this goes past its end
        nop
        .org 300                ; !A502 300 is outside `prog`, which has 256 cells
