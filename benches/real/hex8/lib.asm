; What the programs of this folder share.

; put_hex: writes r0 as two digits.

put_hex:
        shrimm  r1, r0, 4
        call    .digit
        andimm  r1, r0, 15
.digit: gtimm   r15, r1, 9
        mulimm  r15, r15, 'A' - '0' - 10
        add     r1, r15
        addimm  r1, r1, '0'
        output  r1
        return
