.machine hex8
        .warn "mind the gap"    ; !W702 mind the gap
