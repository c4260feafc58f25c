.machine hex8
        .ascii "a\q"            ; !A101 there is no such escape
