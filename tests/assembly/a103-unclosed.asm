.machine hex8
        loadimm r1, 'ab'        ; !A103 this character cannot be read
        .ascii "no end          ; !A103 this text has no closing quote
        loadimm r1, 'a'
        /* to the end           ; !A103 this comment has no end
