; forth.asm: a small Forth
;
;   echo '2 3 + . : sq dup * ; 12 sq .' | lathe run machines/mos6502/programs/forth.asm
;
; The idea: a Forth program is a row of words, and there are only two rules. A
; word that stands in the dictionary is run. Any other is a number and goes onto
; the stack. `:` begins a new word: from then on words are not run but compiled,
; until `;` ends it.
;
; Here a compiled word is simply a subroutine. To compile a word means to lay
; down a `jsr` to it, and to run a word means to `jsr` to it, whether it came
; with this program or was made a line ago. Numbers are compiled as a call of
; `literal` with the number behind it. A few words are immediate: they run even
; while others are compiled. `;` is one; `if` lays down a jump that is not yet
; known, and `then` fills it in.
;
;   x      the stack of numbers in the zero page, growing down; it is never used
;          for anything else without being saved
;   here   where the next thing is compiled
;   latest the newest word of the dictionary
;
; A word in the dictionary:
;
;   2 bytes   the word before it, or 0
;   1 byte    the length of its name; bit 7 says that it is immediate
;   the name
;   its code

.machine mos6502

here    = $10
latest  = $12
entry   = $14                   ; the word that is looked at
code    = $16                   ; its code
mode    = $18                   ; 0: run, $80: compile
ptr     = $1A
saved   = $1C                   ; x
minus   = $1D                   ; a number has a sign
length  = $1E
STACK   = $80                   ; below it: the stack

name    = $0200                 ; the word that was read

JSR_    = $20                   ; opcodes that are compiled
JMP_    = $4C
RTS_    = $60
BNE_    = $D0

        .org $0400
        .entry main

main:   ldx #STACK
        lda #0
        sta mode
        lda #<free
        sta here
        lda #>free
        sta here+1
        lda #<last
        sta latest
        lda #>last
        sta latest+1

next:   jsr read
        lda length
        beq done                ; the input is at its end
        jsr find
        bcc .number
        bit mode
        bpl .run
        ldy #2                  ; while compiling, only immediate words are run
        lda (entry),y
        bmi .run
        jsr compile
        jmp next
.run:   jsr .go
        jmp next
.go:    jmp (code)

.number:
        jsr parse               ; onto the stack
        bcc unknown
        bit mode
        bpl next
        lda #<literal           ; or into the word
        sta code
        lda #>literal
        sta code+1
        jsr compile
        lda 0,x
        jsr lay
        lda 1,x
        jsr lay
        inx
        inx
        jmp next

done:   jmp done

unknown:
        ldy #0
.char:  lda name,y
        sta OUT
        iny
        cpy length
        bne .char
        jsr print
        .asciiz " ?\n"
        jmp next

; read: the next word of the input to `name`; its length is 0 at the end.

read:   ldy #0
.skip:  lda IN
        beq .end
        cmp #' '+1
        bcc .skip
.char:  sta name,y
        iny
        lda IN
        cmp #' '+1
        bcs .char
.end:   sty length
        rts

; find: looks for `name`. If it is there, the carry is set, and `entry` and
; `code` are known.

find:   lda latest
        sta entry
        lda latest+1
        sta entry+1
.word:  ldy #2
        lda (entry),y
        and #$7F
        cmp length
        bne .before
        clc                     ; ptr = entry + 3: its name
        lda entry
        adc #3
        sta ptr
        lda entry+1
        adc #0
        sta ptr+1
        ldy #0
.char:  lda (ptr),y
        cmp name,y
        bne .before
        iny
        cpy length
        bne .char
        tya                     ; code = ptr + length
        clc
        adc ptr
        sta code
        lda ptr+1
        adc #0
        sta code+1
        sec
        rts
.before:
        ldy #1
        lda (entry),y
        pha
        dey
        lda (entry),y
        sta entry
        pla
        sta entry+1
        bne .word               ; no word stands in the zero page
        clc
        rts

; parse: `name` as a decimal number onto the stack; the carry is clear, and the
; stack as before, if it is none.

parse:  dex
        dex
        lda #0
        sta 0,x
        sta 1,x
        sta minus
        tay
        lda name
        cmp #'-'
        bne .digit
        inc minus
        iny
        cpy length
        beq .none               ; a sign alone is no number
.digit: lda name,y
        sec
        sbc #'0'
        cmp #10
        bcs .none
        pha
        jsr times10
        pla
        clc
        adc 0,x
        sta 0,x
        bcc .same
        inc 1,x
.same:  iny
        cpy length
        bne .digit
        lda minus
        beq .done
        jsr negate
.done:  sec
        rts
.none:  inx
        inx
        clc
        rts

times10:
        lda 1,x                 ; n * 10 = (n * 4 + n) * 2
        pha
        lda 0,x
        asl 0,x
        rol 1,x
        asl 0,x
        rol 1,x
        clc
        adc 0,x
        sta 0,x
        pla
        adc 1,x
        sta 1,x
        asl 0,x
        rol 1,x
        rts

negate: sec
        lda #0
        sbc 0,x
        sta 0,x
        lda #0
        sbc 1,x
        sta 1,x
        rts

; compile: lays down a call of `code`.

compile:
        lda #JSR_
        jsr lay
        lda code
        jsr lay
        lda code+1

; lay: a byte at `here`. Keeps x and y.

lay:    sty saved
        ldy #0
        sta (here),y
        ldy saved
        inc here
        bne .same
        inc here+1
.same:  rts

; literal: the number that stands behind the call, onto the stack.

literal:
        pla
        sta ptr
        pla
        sta ptr+1
        dex
        dex
        ldy #1                  ; the address is that of the last byte of `jsr`
        lda (ptr),y
        sta 0,x
        iny
        lda (ptr),y
        sta 1,x
        clc                     ; go on behind the number
        lda ptr
        adc #2
        tay
        lda ptr+1
        adc #0
        pha
        tya
        pha
        rts

; test: takes the number from the stack; the zero flag says whether it is 0.

test:   lda 0,x
        ora 1,x
        inx
        inx
        tay                     ; `inx` has changed the flags
        rts

; ------------------------------------------------------------ the dictionary

; word: the head of a word. `before` is the label of the word before it.

.macro word before, text, immediate = 0
        .word before
        .byte len(text) | immediate
        .ascii text
.endm

w_dup:  word 0, "dup"
        lda 1,x
        pha
        lda 0,x
push:   dex                     ; a is the low byte, the high one is on the stack
        dex
        sta 0,x
        pla
        sta 1,x
        rts

w_drop: word w_dup, "drop"
drop:   inx
        inx
        rts

w_over: word w_drop, "over"
        lda 3,x
        pha
        lda 2,x
        jmp push

w_swap: word w_over, "swap"
        lda 0,x
        ldy 2,x
        sta 2,x
        sty 0,x
        lda 1,x
        ldy 3,x
        sta 3,x
        sty 1,x
        rts

w_add:  word w_swap, "+"
        clc
        lda 2,x
        adc 0,x
        sta 2,x
        lda 3,x
        adc 1,x
        sta 3,x
        jmp drop

w_sub:  word w_add, "-"
        sec
        lda 2,x
        sbc 0,x
        sta 2,x
        lda 3,x
        sbc 1,x
        sta 3,x
        jmp drop

w_mul:  word w_sub, "*"
        jsr factors
        stx saved
        jsr mul16
        ldx saved
        lda number
        sta 2,x
        lda number+1
        sta 3,x
        jmp drop

w_div:  word w_mul, "u/mod"     ; the remainder, and the quotient above it
        jsr factors
        stx saved
        jsr div16
        ldx saved
        lda rest
        sta 2,x
        lda rest+1
        sta 3,x
        lda first
        sta 0,x
        lda first+1
        sta 1,x
        rts

factors:
        lda 2,x
        sta first
        lda 3,x
        sta first+1
        lda 0,x
        sta second
        lda 1,x
        sta second+1
        rts

w_not:  word w_div, "0="        ; -1 if it is 0, else 0
        lda 0,x
        ora 1,x
        beq true
false:  lda #0
        beq set                 ; always
true:   lda #$FF
set:    sta 0,x
        sta 1,x
        rts

w_less: word w_not, "<"         ; with signs
        sec
        lda 2,x
        sbc 0,x
        lda 3,x
        sbc 1,x
        bvc .right
        eor #$80                ; the sign of the difference did not fit
.right: inx
        inx
        asl a                   ; the sign to the carry
        bcs true
        bcc false

w_dot:  word w_less, "."        ; prints a number and a blank
        lda 1,x
        bpl .plus
        lda #'-'
        sta OUT
        jsr negate
.plus:  lda 0,x
        sta number
        lda 1,x
        sta number+1
        stx saved
        jsr put_dec16
        ldx saved
        lda #' '
        sta OUT
        jmp drop

w_emit: word w_dot, "emit"      ; prints a character
        lda 0,x
        sta OUT
        jmp drop

w_cr:   word w_emit, "cr"
        jmp newline

w_words: word w_cr, "words"     ; prints the dictionary, the newest word first
        lda latest
        sta entry
        lda latest+1
        sta entry+1
.next:  ldy #2
        lda (entry),y
        and #$7F
        sta length
.char:  iny
        lda (entry),y
        sta OUT
        dec length
        bne .char
        lda #' '
        sta OUT
        ldy #0
        lda (entry),y
        pha
        iny
        lda (entry),y
        sta entry+1
        pla
        sta entry
        lda entry+1
        bne .next
        jmp newline

w_colon: word w_words, ":"      ; begins a word
        jsr read
        lda latest              ; its link
        pha
        lda latest+1
        pha
        lda here
        sta latest
        lda here+1
        sta latest+1
        pla
        tay
        pla
        jsr lay
        tya
        jsr lay
        lda length
        jsr lay
        ldy #0
.char:  lda name,y
        jsr lay
        iny
        cpy length
        bne .char
        lda #$80
        sta mode
        rts

w_semi: word w_colon, ";", $80  ; ends it
        lda #RTS_
        jsr lay
        lda #0
        sta mode
        rts

w_if:   word w_semi, "if", $80  ; jsr test, bne over the jump, jmp to where?
        jsr branch
jump:   lda #JMP_
        jsr lay
        lda here
        sta ptr
        lda here+1
        sta ptr+1
        jsr lay                 ; room for the address
        jsr lay
        lda ptr+1               ; its place waits on the stack
        pha
        lda ptr
        jmp push

branch: lda #<test
        sta code
        lda #>test
        sta code+1
        jsr compile
        lda #BNE_
        jsr lay
        lda #3
        jmp lay

w_then: word w_if, "then", $80  ; here
then:   lda 0,x
        sta ptr
        lda 1,x
        sta ptr+1
        ldy #0
        lda here
        sta (ptr),y
        iny
        lda here+1
        sta (ptr),y
        jmp drop

w_else: word w_then, "else", $80
        jsr jump
        lda 0,x                 ; the jump of `if` lies below this one: swap
        ldy 2,x
        sta 2,x
        sty 0,x
        lda 1,x
        ldy 3,x
        sta 3,x
        sty 1,x
        jmp then

w_begin: word w_else, "begin", $80
        lda here+1
        pha
        lda here
        jmp push

last:   word w_begin, "until", $80
        jsr branch
        lda #JMP_
        jsr lay
        lda 0,x
        jsr lay
        lda 1,x
        jsr lay
        jmp drop

        .include "lib.asm"

free:                           ; new words go here
