.machine hex8
r1:     return                  ; !A204 `r1` is a name of the machine and cannot be a label
r2 = 5                          ; !A204 `r2` is a name of the machine and cannot be a constant
