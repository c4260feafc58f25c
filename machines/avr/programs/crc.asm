; crc.asm: the CRC-16 of "123456789"
;
;   lathe run machines/avr/programs/crc.asm
;
; The idea: the polynomial is 0x1021 and the beginning 0xFFFF, as in CRC-16/CCITT-FALSE, whose check
; value is in every list. Shifts go from register to register through the carry.
;
; expect: output "29B1\n"

.machine avr

main:   ldi r24, 0xFF
        ldi r25, 0xFF
        ldi r20, 0x21
        ldi r21, 0x10
        ldi r30, lo8(2 * text)
        ldi r31, hi8(2 * text)
next:   lpm r16, z
        adiw r30, 2
        tst r16
        breq done
        eor r25, r16
        ldi r17, 8
bit:    lsl r24
        rol r25
        brcc small
        eor r24, r20
        eor r25, r21
small:  dec r17
        brne bit
        rjmp next
done:   mov r16, r25
        rcall put_hex
        mov r16, r24
        rcall put_hex
        rcall newline
        sleep

text:   .asciiz "123456789"

        .include "lib.asm"
