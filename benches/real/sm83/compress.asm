; compress.asm: makes a text shorter and long again
;
;   lathe run benches/real/sm83/compress.asm -D ROUNDS=10
;
; The text is made of random words. Wherever the bytes that follow stood before,
; not more than 255 bytes back, the compressor writes $80 + their number and the
; distance instead; anything else it writes as it is. A table leads from two bytes
; to where they were last seen. Then everything is unpacked again, and both the
; short and the long form go into the checksum.

.machine sm83

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

WORDS   = 128
SIZE    = WORDS * 8

random  = $FF80                 ; 2 bytes each, the low one first
sum     = $FF82
rounds  = $FF84
length  = $FF86                 ; of a match, 1 byte
found   = $FF88                 ; where the same bytes stood
packed  = $FF8A                 ; where the next byte of the short form goes

INPUT   = $C000                 ; the text; a zero byte follows it
PACKED  = $C800
UNPACKED = $D000
LAST    = $D800                 ; for every two bytes: where they stood last, 0 if nowhere

        .org $150
        .entry start

start:  ld sp, $E000
        ld a, <ROUNDS
        ldh [rounds], a
        ld a, >ROUNDS
        ldh [rounds+1], a
round:  call write
        call compress
        call unpack
        call sum_up
        ldh a, [rounds]
        ld l, a
        ldh a, [rounds+1]
        ld h, a
        dec hl
        ld a, l
        ldh [rounds], a
        ld a, h
        ldh [rounds+1], a
        or a, l
        jr nz, round
        ldh a, [sum+1]
        call put_hex
        ldh a, [sum]
        call put_hex
        ld a, '\n'
        call putc
        halt

; write: the text, out of random words of eight bytes.

write:  ld hl, INPUT
        ld c, WORDS
.word:  push hl
        call next
        and a, 7
        rlca
        rlca
        rlca                    ; 8 * the number of the word
        add a, <words
        ld e, a
        ld d, >words
        pop hl
        ld b, 8
.byte:  ld a, [de]
        ld [hl+], a
        inc de
        dec b
        jr nz, .byte
        dec c
        jr nz, .word
        xor a, a
        ld [hl], a
        ret

; compress: from INPUT to PACKED, which ends with a zero byte.
;
;   de   where we are in the text

compress:
        ld hl, LAST
        xor a, a
        ld b, a
.clear: ld [hl+], a
        ld [hl+], a
        dec b
        jr nz, .clear
        ld hl, PACKED
        ld a, l
        ldh [packed], a
        ld a, h
        ldh [packed+1], a
        ld de, INPUT

.next:  ld a, d
        cp a, >(INPUT + SIZE)
        jr z, .end              ; it ends with a page
        call lookup
        call match
        ldh a, [packed]
        ld l, a
        ldh a, [packed+1]
        ld h, a
        ldh a, [length]
        cp a, 3
        jr c, .single
        ld b, a
        set 7, a
        ld [hl+], a
        ldh a, [found]
        ld c, a
        ld a, e
        sub a, c
        ld [hl+], a             ; the distance
        ld a, e                 ; and on behind the match
        add a, b
        ld e, a
        jr nc, .on
        inc d
        jr .on
.single:
        ld a, [de]
        ld [hl+], a
        inc de
.on:    ld a, l
        ldh [packed], a
        ld a, h
        ldh [packed+1], a
        jr .next
.end:   ldh a, [packed]
        ld l, a
        ldh a, [packed+1]
        ld h, a
        ld [hl], 0
        ret

; lookup: found = where the two bytes at de stood last; from now on they stand here.

lookup: ld h, d
        ld l, e
        inc hl
        ld a, [de]
        ld b, a
        ld a, [hl]
        add a, a
        xor a, b
        ld l, a
        ld h, 0
        add hl, hl
        ld bc, LAST
        add hl, bc
        ld a, [hl]
        ldh [found], a
        ld a, e
        ld [hl+], a
        ld a, [hl]
        ldh [found+1], a
        ld [hl], d
        ret

; match: length = how many bytes at `found` are the same as those at de, 127 at most.
; None if it is too far away. Keeps de.

match:  xor a, a
        ldh [length], a
        ldh a, [found]
        ld l, a
        ldh a, [found+1]
        ld h, a
        or a, a
        ret z
        ld a, e
        sub a, l
        ld a, d
        sbc a, h
        ret nz                  ; 256 or more
        push de
        ld c, 0
.next:  ld a, [de]
        or a, a                 ; the end of the text
        jr z, .end
        cp a, [hl]
        jr nz, .end
        inc hl
        inc de
        inc c
        ld a, c
        cp a, 127
        jr nz, .next
.end:   ld a, c
        ldh [length], a
        pop de
        ret

; unpack: from PACKED to UNPACKED.
;
;   hl   the short form          de   the long one

unpack: ld hl, PACKED
        ld de, UNPACKED
.next:  ld a, [hl+]
        or a, a
        jr z, .end
        bit 7, a
        jr nz, .copy
        ld [de], a
        inc de
        jr .next
.copy:  and a, $7F
        ld b, a
        ld a, [hl+]             ; the distance
        push hl
        ld c, a
        ld a, e
        sub a, c
        ld l, a
        ld a, d
        sbc a, 0
        ld h, a
.byte:  ld a, [hl+]
        ld [de], a
        inc de
        dec b
        jr nz, .byte
        pop hl
        jr .next
.end:   ld [de], a
        ret

; sum_up: mixes the short form and the unpacked one into the checksum.

sum_up: ld bc, PACKED
        call .bytes
        ld bc, UNPACKED
.bytes: ldh a, [sum]
        ld l, a
        ldh a, [sum+1]
        ld h, a
        ld d, 0
.next:  ld a, [bc]
        inc bc
        or a, a
        jr z, .end
        ld e, a
        add hl, hl              ; turned by one bit to the left
        jr nc, .add
        inc hl
.add:   add hl, de
        jr .next
.end:   ld a, l
        ldh [sum], a
        ld a, h
        ldh [sum+1], a
        ret

        .include "lib.asm"

        .align 256
words:  .ascii "the old "
        .ascii "compress"
        .ascii "ion and "
        .ascii " of the "
        .ascii "or that "
        .ascii "reading,"
        .ascii " paper: "
        .ascii "theories"
