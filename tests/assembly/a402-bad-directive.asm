.machine stack8b
        .org                    ; !A402 expected a value
        .byte                   ; !A402 expected one or more values
        .ascii 5                ; !A402 expected a text in quotes
        .include file           ; !A402 expected a file name in quotes
        .section nowhere        ; !A402 stack8b has no memory `nowhere`
        .align 0                ; !A402 cannot align to a multiple of 0
        .le12 5                 ; !A402 12 bits do not fill whole 8-bit cells
        .equ 5, 5               ; !A402 expected a name and a value
        .data
        nop                     ; !A402 instructions belong in `prog`, not in `data`
        .prog
        .align -4               ; !A402 cannot align to a multiple of -4
        .rept 2, n, m           ; !A402 expected a count, and perhaps a name for the counter
        .endr
        .macro m a, a           ; !A402 the parameter `a` is listed twice
        .endm
