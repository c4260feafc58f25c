; suite.asm: runs every kind of instruction, as test suites for processors do
;
;   lathe run benches/real/mos6502/suite.asm -D ROUNDS=10
;
; Instructions are written into a stub and executed there with values for the
; accumulator, the flags and a cell that change every time; what they leave in
; registers, flags and the cell goes into the checksum. In between come calls in
; calls, `brk` with `rti`, decimal arithmetic and operands that are patched.

.machine mos6502

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

OUT     = $F001

sum     = $10                   ; 2 bytes each, the low one first
rounds  = $12
random  = $14
entry   = $16                   ; the line of the table of instructions
opcode  = $18
turn    = $19
old_s   = $1A
keep_a  = $1B
keep_p  = $1C
pointer = $30                   ; for (zp,x) and (zp),y: it leads to the cell
cell    = $80                   ; what instructions work on

        .org $0400
        .entry start

start:  lda #<ROUNDS
        sta rounds
        lda #>ROUNDS
        sta rounds+1
        lda #<handler
        sta $FFFE
        lda #>handler
        sta $FFFF
        lda #cell
        sta pointer
        lda #0
        sta pointer+1

round:  lda #<table
        sta entry
        lda #>table
        sta entry+1

; A line of the table: the number of operand bytes, these, and the opcodes of that
; form, up to a zero byte (which is `brk`, so it is no opcode of any form).

line:   ldy #0
        lda (entry),y
        bmi special             ; no more lines
        tax                     ; the form of the stub: as many bytes as there are
        lda #$EA                ; `nop`, where an operand is not there
        sta stub+1
        sta stub+2
        iny
        cpx #0
        beq .opcodes
        lda (entry),y
        sta stub+1
        iny
        dex
        beq .opcodes
        lda (entry),y
        sta stub+2
        iny
.opcodes:
        lda (entry),y
        iny
        sty turn
        cmp #0
        beq .next
        sta stub
        jsr sample
        jsr sample
        jsr sample
        ldy turn
        jmp .opcodes
.next:  tya                     ; the next line stands behind
        clc
        adc entry
        sta entry
        bcc line
        inc entry+1
        jmp line

special:
        jsr decimal
        jsr breaks
        jsr nested
        jsr patched
        lda rounds
        bne .low
        dec rounds+1
.low:   dec rounds
        lda rounds
        ora rounds+1
        bne round
        lda sum+1
        jsr put_hex
        lda sum
        jsr put_hex
        lda #'\n'
        sta OUT
        jmp *

; sample: runs the instruction in the stub once, on random values.

sample: jsr next
        sta cell
        eor #$5A
        sta cell+3
        jsr next
        pha                     ; for the accumulator
        jsr next
        and #$C3                ; the flags n, v, z and c
        pha
        tsx
        stx old_s
        ldx #3
        ldy #3
        plp
        pla
stub:   nop
        nop
        nop
        php
        sta keep_a
        pla
        sta keep_p
        txa
        pha
        tya
        pha
        lda keep_a
        jsr mix
        lda keep_p
        jsr mix
        pla
        jsr mix
        pla
        jsr mix
        lda cell
        jsr mix
        lda cell+3
        jmp mix

; decimal: sums and differences of digits.

decimal:
        ldx #8
.next:  jsr next
        sed
        adc keep_a
        sta keep_a
        php
        jsr mix
        plp
        sbc random+1
        cld
        jsr mix
        dex
        bne .next
        rts

; breaks: `brk` goes to the handler, which comes back with other flags.

breaks: jsr next
        pha
        plp
        cld
        brk
        nop                     ; skipped: `brk` has a byte of its own
        php
        pla
        jmp mix

handler:
        pla                     ; the flags that will be
        eor #$41
        pha
        tsx
        lda $0102,x             ; the lower half of where it came from
        jsr mix
        rti

; nested: calls in calls, and one that returns where it was told to.

nested: jsr .one
        jsr .one
        lda #>(.back - 1)
        pha
        lda #<(.back - 1)
        pha
        rts
.one:   jsr .two
        jsr .two
        lda #1
        jmp mix
.two:   jsr .three
        jsr .three
        lda #2
        jmp mix
.three: tsx
        txs
        txa
        jmp mix
.back:  lda #3
        jmp mix

; patched: an operand and an address that the program counts up.

patched:
        lda #0
        sta .number+1
        lda #<table
        sta .place+1
        ldx #32
.number:
        lda #0
.place: eor table
        jsr mix
        inc .number+1
        inc .place+1
        dex
        bne .number
        rts

; next: a = the upper half of random = 5 * random + $3619. Keeps x.

next:   lda random
        asl a
        sta keep_a
        lda random+1
        rol a
        asl keep_a
        rol a
        tay
        clc
        lda keep_a
        adc random
        sta random
        tya
        adc random+1
        sta random+1
        clc
        lda random
        adc #$19
        sta random
        lda random+1
        adc #$36
        sta random+1
        rts

; mix: turns the checksum by one bit to the left and adds a. Keeps x and y.

mix:    sta keep_p
        lda sum+1
        asl a
        rol sum
        rol sum+1
        clc
        lda sum
        adc keep_p
        sta sum
        bcc .done
        inc sum+1
.done:  rts

        .include "lib.asm"

table:  .byte 0                 ; without an operand
        .byte $0A, $18, $2A, $38, $4A, $58, $6A, $78, $88, $8A, $98, $A8, $AA, $B8, $BA, $C8, $CA, $E8, $EA, 0
        .byte 1, $5C            ; #n
        .byte $09, $29, $49, $69, $A0, $A2, $A9, $C0, $C9, $E0, $E9, 0
        .byte 1, cell           ; zp
        .byte $05, $06, $24, $25, $26, $45, $46, $65, $66, $84, $85, $86, $A4, $A5, $A6, $C4, $C5, $C6, $E4, $E5, $E6, 0
        .byte 1, cell - 3       ; zp,x and zp,y, which are 3
        .byte $15, $16, $35, $36, $55, $56, $75, $76, $94, $95, $96, $B4, $B5, $B6, $D5, $D6, $F5, $F6, 0
        .byte 2, cell, 0        ; abs
        .byte $0D, $0E, $2C, $2D, $2E, $4D, $4E, $6D, $6E, $8C, $8D, $8E, $AC, $AD, $AE, $CC, $CD, $CE, $EC, $ED, $EE, 0
        .byte 2, cell, 0        ; abs,x and abs,y
        .byte $19, $1D, $1E, $39, $3D, $3E, $59, $5D, $5E, $79, $7D, $7E, $99, $9D, $B9, $BC, $BD, $BE, $D9, $DD, $DE, $F9, $FD, $FE, 0
        .byte 1, pointer - 3    ; (zp,x)
        .byte $01, $21, $41, $61, $81, $A1, $C1, $E1, 0
        .byte 1, pointer        ; (zp),y
        .byte $11, $31, $51, $71, $91, $B1, $D1, $F1, 0
        .byte 1, 0              ; branches, to the next instruction
        .byte $10, $30, $50, $70, $90, $B0, $D0, $F0, 0
        .byte $FF
