.machine hex8
        loadimm r1, 'ab'        ; !A103 this character has no closing quote
        .ascii "no end          ; !A103 this text has no closing quote
        loadimm r1, 'a'
        /* to the end           ; !A103 this comment is not closed
