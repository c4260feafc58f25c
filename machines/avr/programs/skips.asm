; skips.asm: skips over instructions of one word and of two
;
;   lathe run machines/avr/programs/skips.asm
;
; The idea: lds and sts have two words, everything else has one, and a skip passes over the whole
; instruction. Each line tries one skip that is taken and one that is not; a letter tells which
; instructions were executed: small for those that should have been passed over.
;
; expect: output "A B C D E F \n"

.machine avr

FLAGS   = 0x13                  ; a port without a purpose
CELL    = 0x80

main:   ldi r17, 0b1000
        ldi r18, 0b1000
        ldi r20, 'a'
        sts CELL, r20

        ldi r16, 'A'
        cpse r17, r18           ; equal: passes over two words
        lds r16, CELL
        rcall tell

        ldi r16, 'b'
        sbrc r17, 3             ; set: does not
        ldi r16, 'B'
        rcall tell

        ldi r16, 'C'
        sbrs r17, 3             ; passes over two words, which look like other instructions
        sts CELL, r16
        rcall tell

        out FLAGS, r17
        ldi r16, 'd'
        sbic FLAGS, 3           ; set: does not
        ldi r16, 'D'
        rcall tell

        cbi FLAGS, 3
        sbi FLAGS, 0
        ldi r16, 'E'
        sbic FLAGS, 3           ; clear now
        lds r16, CELL
        rcall tell

        ldi r16, 'F'
        sbis FLAGS, 0
        ldi r16, 'f'
        rcall tell
        rcall newline

        lds r16, CELL           ; is what it was
        cpi r16, 'a'
        breq fine
        rcall putc
fine:   sleep

tell:   rcall putc
        ldi r16, ' '
        rjmp putc

        .include "lib.asm"
