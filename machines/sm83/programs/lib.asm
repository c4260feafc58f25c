; lib.asm: a small library for sm83
;
; Include it at the end of a program, after its `halt`:
;
;         .include "lib.asm"
;
; Every routine says which registers it changes; the others come back as they
; were. The routines keep their one variable at `number`, in the high RAM, where
; `ldh` reaches it.
;
;   putc        writes the character in a
;   puts        writes the text at hl
;   print       writes the text that follows the call
;   newline     ends the line
;   put_dec     writes hl as a decimal number
;   put_dec32   writes the 32 bits at `number` as a decimal number
;   put_hex     writes a as two hexadecimal digits
;   mul16       de:hl = bc * de
;   div16       hl = hl / bc, de = hl % bc

rSB     = $FF01                 ; the byte to send
rSC     = $FF02                 ; bit 7 sends it
number  = $FF80                 ; four bytes, the lowest first

; putc: writes the character in a. Changes nothing.

putc:   push af
        ldh [rSB], a
        ld a, $81               ; send, with our own clock
        ldh [rSC], a
        pop af
        ret

; puts: writes the text at hl, up to its zero byte. Changes a; hl is then the
; address after the zero byte.

puts:   ld a, [hl+]
        or a
        ret z
        call putc
        jr puts

; print: writes the text that stands in the program right after the call. The
; return address is the address of the text. Changes a, hl.

print:  pop hl
        call puts
        jp hl                   ; the instruction after the text

; newline: ends the line. Changes a.

newline:
        ld a, '\n'
        jr putc

; put_hex: writes a as two hexadecimal digits. Changes a.

put_hex:
        push af
        swap a
        call .digit
        pop af
.digit: and $0F
        cp 10
        jr c, .small
        add a, 'A' - '0' - 10
.small: add a, '0'
        jr putc

; put_dec: writes hl as a decimal number. Changes a, hl.

put_dec:
        ld a, l
        ldh [number], a
        ld a, h
        ldh [number + 1], a
        xor a
        ldh [number + 2], a
        ldh [number + 3], a
        ; go on below

; put_dec32: writes the 32 bits at `number` as a decimal number, and leaves 0
; there. The last digit comes out first, so all of them wait on the stack.
; Changes a, hl.

put_dec32:
        push bc
        push de
        ld b, 0                 ; how many wait
.digit: call .div10
        push af
        inc b
        ld hl, number
        ld a, [hl+]
        or [hl]
        inc hl
        or [hl]
        inc hl
        or [hl]
        jr nz, .digit
.write: pop af
        add a, '0'
        call putc
        dec b
        jr nz, .write
        pop de
        pop bc
        ret

; Divides the 32 bits at `number` by ten; the remainder goes to a. A bit leaves
; the number at its top and goes into the remainder; a bit of the quotient comes
; in at the bottom.

.div10: xor a
        ld d, 32
.bit:   ld hl, number
        sla [hl]
        inc hl
        rl [hl]
        inc hl
        rl [hl]
        inc hl
        rl [hl]
        rla
        cp 10
        jr c, .less
        sub 10
        ld hl, number
        inc [hl]
.less:  dec d
        jr nz, .bit
        ret

; mul16: de:hl = bc * de. Changes a.

mul16:  ld hl, 0
        ld a, 16
.bit:   add hl, hl              ; de:hl is shifted left; the bit that leaves it
        rl e                    ; is the next one of the factor in de
        rl d
        jr nc, .next
        add hl, bc
        jr nc, .next
        inc de
.next:  dec a
        jr nz, .bit
        ret

; div16: hl = hl / bc, and the remainder in de. Changes a.

div16:  ld de, 0
        ld a, 16
.bit:   push af
        add hl, hl              ; a bit goes from hl into the remainder
        rl e
        rl d
        jr c, .fits             ; 17 bits: certainly more than bc
        ld a, e
        sub c
        ld a, d
        sbc a, b
        jr c, .less
.fits:  ld a, e                 ; de = de - bc
        sub c
        ld e, a
        ld a, d
        sbc a, b
        ld d, a
        inc l                   ; a bit of the quotient
.less:  pop af
        dec a
        jr nz, .bit
        ret
