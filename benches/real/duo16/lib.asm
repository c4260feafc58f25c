; What the programs of this folder share.

; put_hex: writes r9 as four digits, and ends the line.

put_hex:
        ldi   r2, 12
        ldi   r4, 15
        ldi   r5, 4
.digit: lsr   r3, r9, r2
        and   r3, r3, r4
        load  r3l, r3, .digits
        store r0, CONSOLE, r3l
        sub   r2, r2, r5
        jge   .digit
        ldi   r3l, '\n'
        store r0, CONSOLE, r3l
        ret
.digits:
        .ascii "0123456789ABCDEF"
