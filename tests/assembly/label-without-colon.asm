; A label without its colon is reported once, and not at each of its uses.
.machine hex8
again   loadimm r1, 5   ; !A301 hex8 has no instruction `again`
        jmp again
        jmp again
alone                   ; !A301 hex8 has no instruction `alone`
        jmp alone
other   9               ; !A301 hex8 has no instruction `other`
        jmp other       ; !A201 `other` is not defined
