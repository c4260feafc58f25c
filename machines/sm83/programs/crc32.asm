; crc32.asm: prints the CRC-32 of some texts
;
;   lathe run machines/sm83/programs/crc32.asm
;
; The idea: this is the checksum of zip files and Ethernet. 32 bits are shifted
; to the right once for every bit of the text; when a 1 falls out, $EDB88320 is
; exclusive-ored in. The 32 bits just fit into four registers:
;
;   d e h l   the checksum, d highest
;   bc        where we are in the text
;
; expect: output
; | CBF43926 123456789
; | 414FA339 The quick brown fox jumps over the lazy dog
; | 519025E9 The quick brown fox jumps over the lazy dog.
; | E8B7BE43 a
; | 1BBF66C7 Lathe

.machine sm83

POLY    = $EDB88320

        .org $150
        .entry main

main:   ld sp, $E000
        ld bc, texts
.text:  push bc
        call crc
        ld a, d
        call put_hex
        ld a, e
        call put_hex
        ld a, h
        call put_hex
        ld a, l
        call put_hex
        ld a, ' '
        call putc
        pop hl
        call puts
        call newline
        ld b, h
        ld c, l                 ; the next text begins where this one ended
        ld a, c
        cp <texts_end
        jr nz, .text
        ld a, b
        cp >texts_end
        jr nz, .text
        halt

; crc: dehl = the checksum of the text at bc. Changes a, bc.

crc:    ld de, $FFFF
        ld hl, $FFFF
.byte:  ld a, [bc]
        inc bc
        or a
        jp z, .end              ; too far for `jr`
        xor l
        ld l, a
        .rept 8
        srl d
        rr e
        rr h
        rr l
        jr nc, .zero            ; every turn has its own `.zero`
        ld a, d
        xor POLY[31:24]
        ld d, a
        ld a, e
        xor POLY[23:16]
        ld e, a
        ld a, h
        xor POLY[15:8]
        ld h, a
        ld a, l
        xor POLY[7:0]
        ld l, a
.zero:
        .endr
        jp .byte
.end:   ld a, d                 ; the result is turned over
        cpl
        ld d, a
        ld a, e
        cpl
        ld e, a
        ld a, h
        cpl
        ld h, a
        ld a, l
        cpl
        ld l, a
        ret

texts:  .asciiz "123456789"
        .asciiz "The quick brown fox jumps over the lazy dog"
        .asciiz "The quick brown fox jumps over the lazy dog."
        .asciiz "a"
        .asciiz "Lathe"
texts_end:

        .include "lib.asm"
