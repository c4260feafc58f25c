.machine hex8
        .endif                  ; !A403 `.endif` without `.if` before it
        .else                   ; !A403 `.else` without `.if` before it
        .endm                   ; !A403 `.endm` without `.macro` before it
        .endr                   ; !A403 `.endr` without `.rept` before it
        .if 1                   ; !A403 this `.if` is not closed
        .macro open             ; !A403 this block is not closed with `.endm`
