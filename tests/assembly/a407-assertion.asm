.machine hex8
start:  return
        .assert $ - start == 1
        .assert $ - start > 1, "too short"      ; !A407 too short
        .assert start                           ; !A407 this assertion fails
