; selftest.asm: tests the processor; prints "ok", or the first thing that is wrong
;
;   lathe run machines/mos6502/programs/selftest.asm
;
; The idea: a check runs an instruction and compares a and the flags, or a cell,
; with what the processor's documentation says. Where a few values are not
; enough, a sweep runs an instruction with all values of a, with some of the
; flags, and with changing values of a cell, and makes a checksum of all that
; comes out. For `adc` and `sbc` this includes decimal mode with digits that are
; none, as the NMOS 6502 does it.
;
; The numbers that are expected come from a model of the instructions that was
; written for this purpose, not from the machine that is tested.
;
; If a check fails, the program says which one it was, counted from 1, where it
; stands, what was found and what was wanted (a or the cell, then the flags).
; Then it stops.
;
; Flags are written as `php` pushes them: n v 1 b d i z c.
;
; expect: output "ok\n"

.machine mos6502

checks  = $10                   ; how many there were, 2 bytes
ptr     = $12
found   = $14                   ; a and the flags
keep_x  = $16
keep_y  = $17
value   = $18                   ; of a sweep: a, the flags, the cell that the
index   = $19                   ; instruction uses and its next value
operand = $1A
next    = $1B
passes  = $1C
sum     = $1D                   ; the checksum, 2 bytes
back    = $20                   ; what `brk` has left behind
status  = $22
inside  = $23
old     = $24                   ; the stack pointer

cells   = $80                   ; some zero page to play with
STUB    = $2000                 ; where a sweep puts the instruction
page    = $2100                 ; and some memory

; ------------------------------------------------------------ macros

; a and the flags

.macro with acc, flags
        lda #flags
        pha
        lda #acc
        plp
.endm

; a and the flags must be these; all registers and flags stay as they are

.macro expect acc, flags
        php
        jsr check
        .byte acc, flags
.endm

; the cell, x or y must be this; all registers and flags stay as they are

.macro cell address, wanted
        php
        pha
        lda address
        php
        jsr check
        .byte wanted, 0         ; 0: whatever the flags are
        pla
        plp
.endm

.macro in_x wanted
        stx keep_x
        cell keep_x, wanted
.endm

.macro in_y wanted
        sty keep_y
        cell keep_y, wanted
.endm

; a sweep: opcode and its operand, or a `nop`

.macro try opcode, second, turns, wanted
        lda #opcode
        sta STUB
        lda #second
        sta STUB+1
        lda #turns
        jsr sweep
        cell sum, <wanted
        cell sum+1, >wanted
.endm

; ------------------------------------------------------------ all of it

        .org $0400
        .entry main

main:   cld
        ldx #$FF
        txs
        lda #0
        sta checks
        sta checks+1
        jsr loads
        jsr arithmetic
        jsr shifts
        jsr modes
        jsr stores
        jsr every
        jsr stacks
        jsr branches
        jsr jumps
        jsr breaks
        jsr sweeps
        jsr print
        .asciiz "ok\n"
done:   jmp done

; ------------------------------------------------------------ loads and transfers

loads:  with $55, $FF
        lda #$00
        expect $00, $7F
        lda #$80
        expect $80, $FD
        lda #$7F
        expect $7F, $7D
        with $55, $30
        ldx #$80
        expect $55, $B0
        in_x $80
        ldy #$00
        expect $55, $32
        in_y $00
        with $90, $30
        tax
        expect $90, $B0
        in_x $90
        with $00, $30
        tay
        expect $00, $32
        ldx #$81
        with $01, $30
        txa
        expect $81, $B0
        ldy #$00
        with $01, $30
        tya
        expect $00, $32
        ldx #$FF
        with $01, $30
        inx
        expect $01, $32
        in_x $00
        dex
        expect $01, $B0
        in_x $FF
        ldy #$7F
        with $01, $31
        iny
        expect $01, $B1
        in_y $80
        dey
        expect $01, $31
        in_y $7F
        with $33, $30           ; flags, one by one
        sec
        sed
        sei
        expect $33, $3D
        clc
        cld
        cli
        expect $33, $30
        with $33, $FF
        clv
        expect $33, $BF
        nop
        expect $33, $BF
        rts

; ------------------------------------------------------------ arithmetic

arithmetic:
        with $50, $30           ; binary
        adc #$10
        expect $60, $30
        with $50, $30           ; two positive numbers, and a negative sum
        adc #$50
        expect $A0, $F0
        with $D0, $30           ; two negative ones, and a positive sum
        adc #$90
        expect $60, $71
        with $FF, $30
        adc #$01
        expect $00, $33
        with $FF, $31           ; the carry counts
        adc #$00
        expect $00, $33
        with $7F, $31
        adc #$00
        expect $80, $F0
        with $80, $30
        adc #$FF
        expect $7F, $71
        with $3F, $31
        adc #$40
        expect $80, $F0
        with $00, $F1           ; all flags but i and d are new
        adc #$00
        expect $01, $30
        with $50, $31
        sbc #$F0
        expect $60, $30
        with $50, $31           ; too large for a positive number
        sbc #$B0
        expect $A0, $F0
        with $D0, $31           ; or for a negative one
        sbc #$70
        expect $60, $71
        with $50, $31
        sbc #$50
        expect $00, $33
        with $50, $30           ; one is borrowed
        sbc #$50
        expect $FF, $B0
        with $00, $31
        sbc #$01
        expect $FF, $B0
        with $80, $30
        sbc #$00
        expect $7F, $71
        with $58, $39           ; decimal: 58 + 46 + 1 = 105
        adc #$46
        expect $05, $F9
        with $12, $38           ; 12 + 34
        adc #$34
        expect $46, $38
        with $15, $38           ; 15 + 26
        adc #$26
        expect $41, $38
        with $81, $38           ; 81 + 92
        adc #$92
        expect $73, $79
        with $99, $38           ; n and z are not those of the result
        adc #$01
        expect $00, $B9
        with $79, $39           ; nor is v
        adc #$00
        expect $80, $F8
        with $0F, $38           ; digits that are none
        adc #$0F
        expect $14, $38
        with $46, $39           ; 46 - 12
        sbc #$12
        expect $34, $39
        with $40, $39           ; 40 - 13
        sbc #$13
        expect $27, $39
        with $32, $38           ; 32 - 2 - 1
        sbc #$02
        expect $29, $39
        with $12, $39           ; 12 - 21
        sbc #$21
        expect $91, $B8
        with $21, $39           ; 21 - 34
        sbc #$34
        expect $87, $B8
        with $00, $38           ; 0 - 0 - 1
        sbc #$00
        expect $99, $B8
        with $0A, $39           ; digits that are none
        sbc #$0B
        expect $99, $B8

        with $3C, $30           ; comparisons
        cmp #$3C
        expect $3C, $33
        with $3C, $30
        cmp #$3D
        expect $3C, $B0
        with $80, $70           ; as unsigned numbers; v is not touched
        cmp #$7F
        expect $80, $71
        ldx #$10
        with $00, $31
        cpx #$20
        expect $00, $B0
        with $00, $30
        cpx #$10
        expect $00, $33
        ldy #$F0
        with $00, $30
        cpy #$0F
        expect $00, $B1
        with $00, $38           ; decimal mode is nothing to them
        cpy #$EF
        expect $00, $39

        with $5A, $30           ; logic
        and #$A5
        expect $00, $32
        with $F0, $32
        and #$8F
        expect $80, $B0
        with $00, $30
        ora #$00
        expect $00, $32
        with $50, $33
        ora #$A5
        expect $F5, $B1
        with $FF, $31
        eor #$FF
        expect $00, $33
        with $0F, $30
        eor #$F0
        expect $FF, $B0

        lda #$C0                ; `bit`: n and v are bits of the cell
        sta cells
        with $3F, $30
        bit cells
        expect $3F, $F2
        lda #$41
        sta cells
        with $01, $B3
        bit cells
        expect $01, $71
        lda #$80
        sta page
        with $80, $72
        bit page
        expect $80, $B0

        lda #$FF                ; `inc` and `dec` keep the carry
        sta cells
        with $11, $31
        inc cells
        expect $11, $33
        cell cells, $00
        dec cells
        expect $11, $B1
        cell cells, $FF
        lda #$7F
        sta page
        with $11, $38           ; and know no decimal mode
        inc page
        expect $11, $B8
        cell page, $80
        dec page
        expect $11, $38
        cell page, $7F
        rts

; ------------------------------------------------------------ shifts

shifts: with $81, $30
        asl a
        expect $02, $31
        with $80, $30
        asl
        expect $00, $33
        with $81, $31
        rol a
        expect $03, $31
        with $40, $30
        rol a
        expect $80, $B0
        with $01, $B0
        lsr a
        expect $00, $33
        with $81, $31
        lsr a
        expect $40, $31
        with $01, $31
        ror a
        expect $80, $B1
        with $02, $30
        ror a
        expect $01, $30

        lda #$C1                ; in memory, with all four ways to say where
        sta cells
        with $77, $31
        ror cells
        expect $77, $B1
        cell cells, $E0
        ldx #1
        with $77, $30
        lsr cells-1,x
        expect $77, $30
        cell cells, $70
        lda #$C1
        sta page
        with $77, $31
        rol page
        expect $77, $B1
        cell page, $83
        with $77, $31
        asl page-1,x
        expect $77, $31
        cell page, $06
        rts

; ------------------------------------------------------------ addressing

modes:  ldx #0                  ; page[i] = i + 3, and the complement in the next
.fill:  txa
        clc
        adc #3
        sta page,x
        eor #$FF
        sta page+$100,x
        inx
        bne .fill

        lda #$11
        sta $7F
        lda #$22
        sta $80
        lda #$33
        sta $01
        ldx #$FF                ; the zero page wraps
        with 0, $30
        lda $80,x
        expect $11, $30
        ldx #$02
        lda $FF,x
        expect $33, $30
        ldy #$01
        ldx $7F,y
        in_x $22
        ldy #$02
        ldx $FF,y
        in_x $33
        ldx #$80
        ldy $FF,x
        in_y $11

        lda page                ; absolute
        expect $03, $30
        ldx page+2
        in_x $05
        ldy page+3
        in_y $06
        ldx #$10                ; with an index, inside of a page and beyond
        lda page,x
        expect $13, $30
        lda page+$F8,x
        expect $F4, $B0
        ldy #$20
        lda page,y
        expect $23, $30
        lda page+$F0,y
        expect $EC, $B0
        ldx page+$F0,y
        in_x $EC
        ldx #$90
        ldy page+$80,x
        in_y $EC
        .byte $AD, $80, $00     ; lda $0080, the long way
        expect $22, $30
        ldx #$81                ; the whole memory wraps, too
        .byte $BD, $FF, $FF     ; lda $FFFF,x
        expect $22, $30

        lda #<page              ; pointers
        sta $40
        lda #>page
        sta $41
        lda #<(page+$F0)
        sta $FF
        lda $00
        pha
        lda #>(page+$F0)
        sta $00
        ldx #$20
        with 0, $30
        lda ($20,x)
        expect $03, $30
        ldx #$81
        lda ($BF,x)             ; $BF + $81 = $40
        expect $03, $30
        ldx #$0F
        lda ($F0,x)             ; a pointer in $FF and $00
        expect $F3, $B0
        ldy #$05
        lda ($40),y
        expect $08, $30
        lda ($FF),y
        expect $F8, $B0
        ldy #$20
        lda ($FF),y             ; beyond the page
        expect $EC, $B0

        with $0F, $31           ; all of them for an operation of two values
        and page+1
        expect $04, $31
        ldx #$02
        ldy #$05
        ora page,x
        expect $05, $31
        eor page,y
        expect $0D, $31
        adc ($40),y
        expect $16, $30
        ldx #$20
        sbc ($20,x)
        expect $12, $31
        cmp ($40),y
        expect $12, $31
        ldx #$FF
        cmp $81,x               ; $80 holds $22
        expect $12, $B0
        pla
        sta $00

        ldx #$FF                ; index registers against memory
        ldy #$02
        with 0, $30
        cpx page+$FC            ; $FF
        expect 0, $33
        cpy page+$FE            ; $01
        expect 0, $31
        cpy page                ; $03
        expect 0, $B0
        cpx $80                 ; $22
        expect 0, $B1
        cpy $80
        expect 0, $B0
        rts

; ------------------------------------------------------------ stores

stores: ldx #0
        txa
.clear: sta page,x
        sta page+$100,x
        inx
        bne .clear
        ldx #$F0
        ldy #$20
        with $A1, $FF           ; a store leaves the flags alone
        sta $81,x               ; $71
        expect $A1, $FF
        cell $71, $A1
        sta page+$80
        cell page+$80, $A1
        sta page+$20,x          ; $110
        cell page+$110, $A1
        sta page+$F8,y          ; $118
        cell page+$118, $A1
        stx $51,y               ; $71
        cell $71, $F0
        sty $82,x               ; $72
        cell $72, $20
        stx page+1
        cell page+1, $F0
        sty page+2
        cell page+2, $20
        stx $73
        cell $73, $F0
        sty $74
        cell $74, $20
        expect $A1, $FF

        lda #<(page+$F0)        ; through pointers
        sta $71
        lda #>(page+$F0)
        sta $72
        with $B2, $30
        sta ($81,x)
        expect $B2, $30
        cell page+$F0, $B2
        lda #$B3
        sta ($71),y
        cell page+$110, $B3

        lda #$80                ; what reads, changes and writes, with an index
        sta $71
        lda #$7F
        sta page+$20
        with 0, $30
        inc $81,x               ; $71
        expect 0, $B0
        dec $81,x
        dec $81,x
        expect 0, $30
        cell $71, $7F
        ldx #$20
        inc page,x
        expect 0, $B0
        cell page+$20, $80
        dec page,x
        expect 0, $30
        ror page,x              ; the carry comes out of $7F
        expect 0, $31
        cell page+$20, $3F
        rol $51,x               ; $71: $7F and a carry in
        expect 0, $B0
        cell $71, $FF
        rts

; ------------------------------------------------------------ every operation in every way

; $5B is the operand of all, $3C in a, and the carry is set

.macro ways op, acc, flags
        with $3C, $31
        op #$5B
        expect acc, flags
        with $3C, $31
        op $70
        expect acc, flags
        with $3C, $31
        op $70-3,x
        expect acc, flags
        with $3C, $31
        op page+$10
        expect acc, flags
        with $3C, $31
        op page+$10-3,x
        expect acc, flags
        with $3C, $31
        op page+$10-4,y
        expect acc, flags
        with $3C, $31
        op ($40-3,x)
        expect acc, flags
        with $3C, $31
        op ($42),y
        expect acc, flags
.endm

.macro change op, address, result, flags
        lda #$5B
        sta address
        with $3C, $31
        op address
        expect $3C, flags
        cell address, result
.endm

.macro change_x op, address, result, flags
        lda #$5B
        sta address
        with $3C, $31
        op address-3,x
        expect $3C, flags
        cell address, result
.endm

.macro changes op, result, flags
        change op, $70, result, flags
        change_x op, $70, result, flags
        change op, page+$10, result, flags
        change_x op, page+$10, result, flags
.endm

every:  lda #<(page+$10)
        sta $40
        lda #>page
        sta $41
        sta $43
        lda #<(page+$10-4)
        sta $42
        lda #$5B
        sta $70
        sta page+$10
        ldx #3
        ldy #4
        ways ora, $7F, $31
        ways and, $18, $31
        ways eor, $67, $31
        ways adc, $98, $F0
        ways lda, $5B, $31
        ways cmp, $3C, $B0
        ways sbc, $E1, $B0
        changes asl, $B6, $B0
        changes rol, $B7, $B0
        changes lsr, $2D, $31
        changes ror, $AD, $B1
        changes dec, $5A, $31
        changes inc, $5C, $31
        rts

; ------------------------------------------------------------ the stack

stacks: tsx
        stx old
        ldx #$3F
        with $55, $FF
        txs                     ; no flags
        expect $55, $FF
        tsx
        expect $55, $7D
        in_x $3F
        pha
        tsx
        ldy $013F
        pla
        in_x $3E
        in_y $55

        lda #$80
        pha
        with 0, $32
        pla
        expect $80, $B0
        with 0, $00             ; two bits are always pushed as 1
        php
        pla
        expect $30, $30
        with 0, $CF
        php
        pla
        expect $FF, $FD
        ldx #$80                ; `tsx` knows n
        txs
        with 0, $30
        tsx
        expect 0, $B0

        ldx #0                  ; the stack wraps inside of its page
        txs
        lda #$77
        pha
        tsx
        ldy $0100
        stx back
        lda #$5A
        sta $0100
        ldx #$FF
        txs
        pla
        tsx
        stx inside
        ldx old                 ; now we may use it again
        txs
        php
        jsr check
        .byte $5A, 0
        cell back, $FF
        cell inside, $00
        in_y $77
        rts

; ------------------------------------------------------------ branches

; a branch is tried with flags for which it is taken, then with others

.macro choose branch, holds, others
        ldx #0
        with 0, holds
        branch .taken
        inx
.taken: with 0, others
        branch .last
        inx
        inx
.last:  in_x 2
.endm

branches:
        choose bpl, $7F, $80
        choose bmi, $80, $7F
        choose bvc, $BF, $40
        choose bvs, $40, $BF
        choose bcc, $FE, $01
        choose bcs, $01, $FE
        choose bne, $FD, $02
        choose beq, $02, $FD
        with 0, $FF             ; the flags stay as they are
        beq .next
.next:  expect 0, $FF

        ldx #3                  ; backward, and over the edge of a page
        ldy #0
        jmp .loop
        .align 256
        .space 254
.loop:  iny
        dex
        bne .loop
        in_y 3
        rts

; ------------------------------------------------------------ jumps

jumps:  jsr .here               ; pushes the address of its own last byte
.here:  pla
        sta back
        pla
        sta back+1
        cell back, <(.here - 1)
        cell back+1, >(.here - 1)

        ldx #0
        lda #>(.there - 1)      ; `rts` adds one
        pha
        lda #<(.there - 1)
        pha
        with 0, $FF             ; and changes no flags
        rts
        inx
.there: expect 0, $FF
        in_x 0

        jmp .over
        inx
.over:  lda #<.direct
        sta page+$80
        lda #>.direct
        sta page+$81
        jmp (page+$80)
        inx
.direct:
        in_x 0

; A pointer that begins in the last byte of a page does not leave the page: its
; high byte comes from the first byte of the same page.

        ldy #<.bug
        lda #$4C                ; where it would go to, were it otherwise:
        sta $2300,y             ; jmp .wrong
        lda #<.wrong
        sta $2301,y
        lda #>.wrong
        sta $2302,y
        sty page+$FF
        lda #>.bug
        sta page
        lda #$23
        sta page+$100
        jmp (page+$FF)
.wrong: inx
.bug:   in_x 0
        rts

; ------------------------------------------------------------ brk and rti

breaks: ldx #0
        with $5A, $C3           ; n v z c
        brk
        .byte $E8               ; `inx`, which is left out
.one:   expect $5A, $F3
        cell status, $F3        ; was pushed with b
        cell back, <.one
        cell back+1, >.one
        cell inside, $04        ; i is set, d is as it was
        with $A5, $38           ; d
        brk
        .byte $E8
        expect $A5, $38
        cell status, $38
        cell inside, $0C
        with $A5, $36           ; i is no obstacle to `brk`
        brk
        .byte $E8
        expect $A5, $36
        cell inside, $04

        ldx #0                  ; `rti` goes to the address itself
        lda #>.two
        pha
        lda #<.two
        pha
        lda #$CB
        pha
        lda #$12
        rti
        inx
.two:   expect $12, $FB
        in_x 0
        cld
        sei
        rts

; handler: looks at what `brk` has pushed.

handler:
        pha
        txa
        pha
        php
        pla
        and #$0C                ; d and i
        sta inside
        tsx
        lda $0103,x
        sta status
        lda $0104,x
        sta back
        lda $0105,x
        sta back+1
        pla
        tax
        pla
        rti

; ------------------------------------------------------------ sweeps

sweeps: lda #$60                ; rts
        sta STUB+2
        try $65, operand, 4, $FAE9      ; adc
        try $E5, operand, 4, $B1E7      ; sbc
        try $25, operand, 1, $32E3      ; and
        try $05, operand, 1, $AB72      ; ora
        try $45, operand, 1, $59FA      ; eor
        try $A5, operand, 1, $DDF6      ; lda
        try $A6, operand, 1, $850A      ; ldx
        try $A4, operand, 1, $05FF      ; ldy
        try $85, operand, 1, $7AD0      ; sta
        try $86, operand, 1, $EF9A      ; stx
        try $84, operand, 1, $7A13      ; sty
        try $C5, operand, 1, $C609      ; cmp
        try $E4, operand, 1, $08F7      ; cpx
        try $C4, operand, 1, $7C19      ; cpy
        try $24, operand, 1, $5BFE      ; bit
        try $06, operand, 1, $7DEA      ; asl
        try $46, operand, 1, $F620      ; lsr
        try $26, operand, 1, $8934      ; rol
        try $66, operand, 1, $E6BA      ; ror
        try $E6, operand, 1, $5ED4      ; inc
        try $C6, operand, 1, $6FAE      ; dec
        try $0A, $EA, 1, $FFDB  ; asl a
        try $4A, $EA, 1, $85BF  ; lsr a
        try $2A, $EA, 1, $2AF2  ; rol a
        try $6A, $EA, 1, $EB27  ; ror a
        try $E8, $EA, 1, $8303  ; inx
        try $CA, $EA, 1, $3CA9  ; dex
        try $C8, $EA, 1, $C3A3  ; iny
        try $88, $EA, 1, $EBD5  ; dey
        try $AA, $EA, 1, $26D4  ; tax
        try $A8, $EA, 1, $FFD0  ; tay
        try $8A, $EA, 1, $8ECD  ; txa
        try $98, $EA, 1, $EBB8  ; tya
        rts

; sweep: runs the instruction at STUB 1536 times, and a times that; the checksum
; is in `sum`. The instruction begins with a, x = a eor $55, y = a eor $FF.

sweep:  sta passes
        lda #0
        sta sum
        sta sum+1
        sta next
        sta value
.value: ldx #flags_end-flags-1
        stx index
.flags: lda next
        sta operand
        ldx index
        lda flags,x
        pha
        lda value
        eor #$FF
        tay
        eor #$AA                ; $FF and $AA are $55
        tax
        lda value
        plp
        jsr STUB

        php
        cld
        sta found               ; sum = sum rotated + (a and flags)
        stx keep_x
        lda sum+1
        asl a
        rol sum
        rol sum+1
        pla
        clc
        adc sum
        sta sum
        lda found
        adc sum+1
        eor keep_x              ; with x, y and the cell in it
        sta sum+1
        tya
        eor operand
        eor sum
        sta sum

        clc
        lda next
        adc #$1D
        sta next
        dec index
        bpl .flags
        inc value
        lda value
        asl a
        bne .value
        inc next                ; at the half and at the end, so that even and odd
        bcs .value              ; cells meet all flags
        inc next
        dec passes
        bne .value
        rts

flags:  .byte $00, $01, $08, $09, $F6, $FF
flags_end:

; ------------------------------------------------------------ check

; check: compares a, and the flags that were pushed before the call, with the two
; bytes after the call. Takes the flags from the stack.

check:  sta found
        pla
        sta ptr
        pla
        sta ptr+1
        pla
        sta found+1
        cld
        stx keep_x
        sty keep_y
        inc checks
        bne .low
        inc checks+1
.low:   ldy #1                  ; the address is that of the last byte of `jsr`
        lda (ptr),y
        cmp found
        bne .wrong
        iny
        lda (ptr),y
        beq .right              ; whatever they are
        cmp found+1
        bne .wrong
.right: clc
        lda ptr
        adc #2
        tay
        lda ptr+1
        adc #0
        pha                     ; where to go on
        tya
        pha
        lda found+1
        pha
        ldx keep_x
        ldy keep_y
        lda found
        plp
        rts

.wrong: lda checks
        sta number
        lda checks+1
        sta number+1
        jsr print
        .asciiz "test "
        jsr put_dec16
        jsr print
        .asciiz " failed before $"
        lda ptr+1
        jsr put_hex
        lda ptr
        jsr put_hex
        jsr print
        .asciiz ": found $"
        lda found
        jsr put_hex
        lda found+1
        jsr put_hex
        jsr print
        .asciiz ", wanted $"
        ldy #1
        lda (ptr),y
        jsr put_hex
        ldy #2
        lda (ptr),y
        jsr put_hex
        jsr newline
        jmp done

        .include "lib.asm"

        .org $FFFE
        .word handler
