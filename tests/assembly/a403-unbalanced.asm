.machine hex8
        .endif                  ; !A403 `.endif` has no `.if` before it
        .else                   ; !A403 `.else` has no `.if` before it
        .endm                   ; !A403 `.endm` has no `.macro` before it
        .endr                   ; !A403 `.endr` has no `.rept` before it
        .if 1                   ; !A403 this `.if` is not closed
        .macro open             ; !A403 this `.macro` is not closed
