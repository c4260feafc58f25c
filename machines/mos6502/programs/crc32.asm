; crc32.asm: prints the CRC-32 of some texts
;
;   lathe run machines/mos6502/programs/crc32.asm
;
; The idea: this is the checksum of zip files and Ethernet. 32 bits are shifted
; to the right once for every bit of the text; when a 1 falls out, $EDB88320 is
; exclusive-ored in.
;
;   crc   the checksum, four bytes, the lowest first
;   ptr   the text
;
; expect: output
; | CBF43926 123456789
; | 414FA339 The quick brown fox jumps over the lazy dog
; | 519025E9 The quick brown fox jumps over the lazy dog.
; | E8B7BE43 a
; | 1BBF66C7 Lathe

.machine mos6502

crc     = $10
ptr     = $14

POLY    = $EDB88320

        .org $0400
        .entry main

main:   lda #<texts
        sta ptr
        lda #>texts
        sta ptr+1
.text:  jsr checksum
        ldx #3
.hex:   lda crc,x
        jsr put_hex
        dex
        bpl .hex
        lda #' '
        jsr putc
        lda ptr
        ldy ptr+1
        jsr puts                ; y is then the length of the text
        jsr newline
        tya
        sec                     ; the next one begins after its zero
        adc ptr
        sta ptr
        bcc .same
        inc ptr+1
.same:  cmp #<texts_end
        bne .text
        lda ptr+1
        cmp #>texts_end
        bne .text
done:   jmp done

; checksum: crc = the checksum of the text at ptr.

checksum:
        ldx #3
        lda #$FF
.ones:  sta crc,x
        dex
        bpl .ones
        ldy #0
.byte:  lda (ptr),y
        beq .end
        iny
        eor crc
        sta crc
        ldx #8
.bit:   lsr crc+3
        ror crc+2
        ror crc+1
        ror crc
        bcc .zero
        lda crc+3
        eor #POLY[31:24]
        sta crc+3
        lda crc+2
        eor #POLY[23:16]
        sta crc+2
        lda crc+1
        eor #POLY[15:8]
        sta crc+1
        lda crc
        eor #POLY[7:0]
        sta crc
.zero:  dex
        bne .bit
        jmp .byte
.end:   ldx #3                  ; the result is turned over
.turn:  lda crc,x
        eor #$FF
        sta crc,x
        dex
        bpl .turn
        rts

texts:  .asciiz "123456789"
        .asciiz "The quick brown fox jumps over the lazy dog"
        .asciiz "The quick brown fox jumps over the lazy dog."
        .asciiz "a"
        .asciiz "Lathe"
texts_end:

        .include "lib.asm"
