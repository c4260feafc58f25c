; decimal.asm: adds decimal numbers of eight digits
;
;   lathe run machines/i8080/programs/decimal.asm
;
; The idea: two digits are in a byte. `adc m` adds them with the carry of the pair
; before, and `daa` makes them decimal again.
;
; expect: output "12345678 + 87654329 = 100000007\n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi h, first
        call put
        lxi h, plus
        call puts
        lxi h, second
        call put
        lxi h, equals
        call puts
        lxi d, first
        lxi h, second
        mvi b, 4
        ora a                   ; no carry
add:    ldax d
        adc m
        daa
        stax d
        inx d
        inx h
        dcr b                   ; leaves the carry alone
        jnz add
        mvi a, '0'
        aci 0
        call putc
        lxi h, first
        call put
        call newline
        hlt

; put: writes the four bytes at hl, of which the last is the highest. Changes a, b, hl.

put:    lxi b, 4
        dad b
.next:  dcx h
        mov a, m
        call put_hex
        dcr c
        jnz .next
        ret

first:  db 0x78, 0x56, 0x34, 0x12
second: db 0x29, 0x43, 0x65, 0x87
plus:   .asciiz " + "
equals: .asciiz " = "

        .include "lib.asm"
