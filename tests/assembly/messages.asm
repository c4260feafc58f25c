; The commonest mistakes: each gives one message that names the way out.
.machine quad8
start:  jmp start +             ; !A104 expected a value after `+`, found the end of the line
        li a, (5                ; !A104 expected `)`, found the end of the line
again   inc a                   ; !A301 quad8 has no instruction `again`
        li a, #5                ; !A302 expected an 8-bit number, found `#`
        db 5                    ; !A301 quad8 has no instruction `db`
        ld a, b                 ; !A301 quad8 has no instruction `ld`
        .res                    ; !A401 there is no directive `.res`
        .cell                   ; !A402 expected one or more values
