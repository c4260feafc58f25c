.machine hex8
        .space end < 5 ? 10 : 0
end:    return                  ; !A503 these addresses change in every pass and do not settle: `end`
