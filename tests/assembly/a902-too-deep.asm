.machine hex8
        .byte ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))   ; !A902 this expression is nested too deeply
.macro again
        again                   ; !A902 macros are nested more than 64 deep
.endm
        again
