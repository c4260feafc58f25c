.machine stack8b
        .org                    ; !A402 a value is missing
        .byte                   ; !A402 values are wanted
        .ascii 5                ; !A402 a text in quotes is wanted
        .include file           ; !A402 the name of a file in quotes is wanted
        .section nowhere        ; !A402 stack8b has no memory `nowhere`
        .align 0                ; !A402 nothing is a multiple of 0
        .le12 5                 ; !A402 12 bits are not a whole number of cells of 8 bits
        .equ 5, 5               ; !A402 a name and a value are wanted
        .data
        nop                     ; !A402 instructions belong in `prog`, not in `data`
