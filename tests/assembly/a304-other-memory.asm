.machine stack8b
        .data
value:  .byte 5
        .prog
        skp value               ; !A304 this label is in `data`, but the instruction reaches `prog`
