; What the programs of this folder share.

; next: a = the upper half of random = 5 * random + $3619. Changes hl and de.

next:   ldh a, [random]
        ld l, a
        ld e, a
        ldh a, [random+1]
        ld h, a
        ld d, a
        add hl, hl
        add hl, hl
        add hl, de
        ld de, $3619
        add hl, de
        ld a, l
        ldh [random], a
        ld a, h
        ldh [random+1], a
        ret

; put_hex: writes a as two digits. putc: writes the character in a.

put_hex:
        push af
        swap a
        call .digit
        pop af
.digit: and a, 15
        cp a, 10
        jr c, .small
        add a, 'A' - '0' - 10
.small: add a, '0'
putc:   ldh [$FF01], a
        ld a, $80
        ldh [$FF02], a
        ret
