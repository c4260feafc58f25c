; lib.asm: a small library for pdp8
;
; Include it at the end of a program. Words 20 to 27 of page 0 are its own, and page 600 (octal). Every routine is
; called through page 0, takes its argument in the accumulator and comes back with it cleared:
;
;         tad text
;         jms i puts
;
;   putc      writes the character in ac
;   puts      writes the text at ac, one character a word, up to a zero word
;   newline   ends the line
;   put_dec   writes ac as a decimal number
;   put_oct   writes ac as four octal digits

        .org 20
putc:   .cell do_putc
puts:   .cell do_puts
newline: .cell do_newline
put_dec: .cell do_put_dec
put_oct: .cell do_put_oct

        .org 600
do_putc: .cell 0                ; where it returns, as `jms` leaves it
        tls
        tsf                     ; wait until it is printed
        jmp do_putc + 2
        cla
        jmp i do_putc

do_puts: .cell 0
        dca text_at
.next:  tad i text_at
        sna
        jmp i do_puts
        jms do_putc
        isz text_at
        jmp .next

do_newline: .cell 0
        tad line_feed
        jms do_putc
        jmp i do_newline

; The digits before the last: how often a power of ten can be taken away. The link tells when it is too often.

do_put_dec: .cell 0
        dca rest
        tad table
        dca power
        dca shown
.digit: dca digit
.again: cll
        tad rest
        tad i power
        snl
        jmp .done
        dca rest
        isz digit
        jmp .again
.done:  cla
        tad digit
        tad shown
        sna
        jmp .next               ; a zero before all other digits
        cla iac
        dca shown
        tad digit
        tad zero
        jms do_putc
.next:  isz power
        tad i power
        sza cla
        jmp .digit
        tad rest
        tad zero
        jms do_putc
        jmp i do_put_dec

; Four times three bits, which leave the accumulator at its left through the link.

do_put_oct: .cell 0
        dca rest
        tad minus_4
        dca digit
.next:  tad rest
        cll ral
        rtl
        dca rest                ; the next digit is in the link and the lowest two bits
        tad rest
        ral
        and seven
        tad zero
        jms do_putc
        isz digit
        jmp .next
        jmp i do_put_oct

text_at: .cell 0
rest:   .cell 0
digit:  .cell 0
power:  .cell 0
shown:  .cell 0
zero:   .cell '0'
seven:  .cell 7
minus_4: .cell -4
line_feed: .cell '\n'
table:  .cell powers
powers: .cell -1750, -144, -12, 0
