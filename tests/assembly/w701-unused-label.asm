.machine hex8
main:   jmp .end
.end:   return
other:  return                  ; !W701 nothing uses the label `other`
entry:  return
        .export entry
        .entry main
