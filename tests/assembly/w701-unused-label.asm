.machine hex8
main:   jmp .end
.end:   return
other:  return                  ; !W701 the label `other` is never used
entry:  return
        .export entry
        .entry main
