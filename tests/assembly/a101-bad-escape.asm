.machine hex8
        .ascii "a\q"            ; !A101 unknown escape
