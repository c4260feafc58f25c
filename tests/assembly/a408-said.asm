.machine hex8
        .error "stop here"      ; !A408 stop here
        .if 0
        .error "not this"
        .endif
