; selftest.asm: tests the processor; prints "ok", or the first thing that is wrong
;
;   lathe run machines/sm83/programs/selftest.asm
;
; The idea: a check runs an instruction and compares a pair of registers with
; what the processor's documentation says. Where a few values are not enough, a
; sweep runs an instruction with all values of a and of the flags n, h and c, and
; with changing values of b, and makes a checksum of all that comes out.
;
; The numbers that are expected come from a model of the instructions that was
; written for this purpose, not from the machine that is tested.
;
; If a check fails, the program says which one it was, counted from 1, where it
; stands, what was found and what was wanted. Then it stops.
;
; expect: output "ok\n"

.machine sm83

rIF     = $FF0F
rIE     = $FFFF

checks  = $FF90                 ; how many there were, two bytes
stack   = $FF92                 ; the stack pointer of before, two bytes
served  = $FF94                 ; how many interrupts there were
seen    = $FF95                 ; b, when the last one came
kept    = $FF96                 ; a cell to keep something in

STUB    = $C100                 ; where a sweep puts the instruction
CELLS   = $C200                 ; some memory to play with
LOG     = $C300                 ; the interrupts that were served

; ------------------------------------------------------------ vectors

; `rst` tells with b where it went.

        .rept 8, n
        .org n * 8
        ld b, n * 8
        ret
        .endr

; An interrupt goes to the log with its number.

        .rept 5, n
        .org $40 + n * 8
        push af
        ld a, n
        jp record
        .endr

; ------------------------------------------------------------ macros

; af = value, and nothing else is changed

.macro with value
        push hl
        ld hl, value
        push hl
        pop af
        pop hl
.endm

; the pair must be this value; all registers and flags stay as they are

.macro expect pair, value
        push af
        push bc
        push de
        push hl
        push pair
        call check
        .word value
        pop hl
        pop de
        pop bc
        pop af
.endm

; the cell must be this value; changes a and hl

.macro cell address, value
        ld a, [address]
        ld h, 0
        ld l, a
        expect hl, value
.endm

; a sweep with an instruction of one or two bytes; changes everything

.macro try first, second, sum
        ld hl, STUB
        ld a, first
        ld [hl+], a
        ld a, second            ; 0 is a `nop`
        ld [hl+], a
        ld [hl], $C9            ; `ret`
        call sweep
        expect hl, sum
.endm

; ------------------------------------------------------------ all of it

        .org $150
        .entry main

main:   di
        ld sp, $E000
        xor a
        ldh [checks], a
        ldh [checks + 1], a
        call loads
        call arithmetic
        call sweeps
        call memory
        call wide
        call stacks
        call jumps
        call calls
        call interrupts
        call print
        .asciiz "ok\n"
        halt

; ------------------------------------------------------------ loads

loads:  with $0000
        ld a, $12
        expect af, $1200
        ld b, a
        ld c, $34
        expect bc, $1234
        ld d, c
        ld e, b
        expect de, $3412
        ld h, e
        ld l, d
        expect hl, $1234
        ld a, l
        expect af, $3400

        with $5AF0              ; loads leave the flags alone
        ld hl, CELLS
        ld [hl], $A5
        expect af, $5AF0
        ld b, [hl]
        expect bc, $A534
        ld [hl], a
        ld c, [hl]
        expect bc, $A55A
        expect af, $5AF0

        ld hl, CELLS            ; up and down
        ld a, 1
        ld [hl+], a
        expect hl, CELLS + 1
        inc a
        ld [hl-], a
        expect hl, CELLS
        ld a, [hl+]
        expect hl, CELLS + 1
        ld b, a
        ld a, [hl-]
        ld c, a
        expect bc, $0102
        expect hl, CELLS

        ld bc, CELLS + 2        ; through the other pairs
        ld de, CELLS + 3
        ld a, $77
        ld [bc], a
        inc a
        ld [de], a
        ld a, [bc]
        ld h, a
        ld a, [de]
        ld l, a
        expect hl, $7778

        ld a, $9C               ; at an address
        ld [CELLS + 4], a
        ld hl, CELLS + 4
        ld b, [hl]
        inc [hl]
        ld a, [CELLS + 4]
        ld c, a
        expect bc, $9C9D

        ld a, $3E               ; in the last page
        ldh [kept], a
        ld hl, kept
        ld b, [hl]
        ld c, <kept
        ld a, $3F
        ldh [c], a
        ldh a, [kept]
        ld c, a
        expect bc, $3E3F
        ld c, <kept
        ld [hl], $40
        ldh a, [c]
        ld b, a
        expect bc, $4096
        ret

; ------------------------------------------------------------ arithmetic

arithmetic:
        with $3A00              ; a register, its sum and its four flags
        ld b, $C6
        add a, b
        expect af, $00B0
        with $3C00
        add a, $FF
        expect af, $3B30
        with $0F00
        add a, 1
        expect af, $1020
        with $F0F0              ; `add` takes no carry in
        add a, $10
        expect af, $0090
        with $E110              ; `adc` does
        adc a, $0F
        expect af, $F120
        with $E110
        adc a, $1E
        expect af, $00B0
        with $0010              ; the carry alone makes the half carry
        adc a, $0F
        expect af, $1020
        with $FF10
        adc a, $FF
        expect af, $FF30
        with $3E00
        sub a, $3E
        expect af, $00C0
        with $3E00
        sub a, $0F
        expect af, $2F60
        with $3E10              ; nor does `sub`
        sub a, $40
        expect af, $FE50
        with $3B10
        sbc a, $2A
        expect af, $1040
        with $3B10
        sbc a, $3A
        expect af, $00C0
        with $0010
        sbc a, $FF
        expect af, $00F0
        with $1010
        sbc a, $0F
        expect af, $00E0
        with $3C00              ; a comparison changes flags alone
        cp $2F
        expect af, $3C60
        with $3C00
        cp $3C
        expect af, $3CC0
        with $3C00
        cp $40
        expect af, $3C50
        with $5AF0
        and $38
        expect af, $1820
        with $5AF0
        and $00
        expect af, $00A0
        with $FFF0
        xor $0F
        expect af, $F000
        with $A5F0
        xor a
        expect af, $0080
        with $5AF0
        or $03
        expect af, $5B00
        with $00F0
        or a
        expect af, $0080

        with $FF10              ; `inc` and `dec` keep the carry
        inc a
        expect af, $00B0
        with $0F00
        inc a
        expect af, $1020
        with $0110
        dec a
        expect af, $00D0
        with $0000
        dec a
        expect af, $FF60

        with $4500              ; decimal: 45 + 38 = 83
        add a, $38
        daa
        expect af, $8300
        with $8300              ; 83 - 38 = 45
        sub a, $38
        daa
        expect af, $4540
        with $9900              ; 99 + 01 = 100
        add a, $01
        daa
        expect af, $0090
        with $0000              ; 00 - 01 = 99, and one is borrowed
        sub a, $01
        daa
        expect af, $9950
        with $9910              ; 99 + 99 + 1 = 199
        adc a, $99
        daa
        expect af, $9910
        with $2010              ; 20 - 20 - 1
        sbc a, $20
        daa
        expect af, $9950

        with $35F0              ; the others
        cpl
        expect af, $CAF0
        with $3500
        cpl
        expect af, $CA60
        with $00E0
        scf
        expect af, $0090
        with $0060
        ccf
        expect af, $0010
        with $00F0
        ccf
        expect af, $0080
        with $8000              ; these never set z
        rlca
        expect af, $0110
        with $0080
        rlca
        expect af, $0000
        with $80F0
        rla
        expect af, $0110
        with $8000
        rla
        expect af, $0010
        with $0100
        rrca
        expect af, $8010
        with $0180
        rra
        expect af, $0010
        with $0010
        rra
        expect af, $8000
        with $12F0              ; nothing at all
        nop
        expect af, $12F0
        ret

; ------------------------------------------------------------ sweeps

sweeps:
        try $80, $00, $F8A3     ; add a, b
        try $88, $00, $7F12     ; adc a, b
        try $90, $00, $48FB     ; sub a, b
        try $98, $00, $977C     ; sbc a, b
        try $A0, $00, $172A     ; and a, b
        try $A8, $00, $E83C     ; xor a, b
        try $B0, $00, $0528     ; or a, b
        try $B8, $00, $1E53     ; cp a, b
        try $04, $00, $3ABA     ; inc b
        try $05, $00, $CE0C     ; dec b
        try $07, $00, $317B     ; rlca
        try $0F, $00, $62FB     ; rrca
        try $17, $00, $9B43     ; rla
        try $1F, $00, $80BC     ; rra
        try $27, $00, $6CD8     ; daa
        try $2F, $00, $BAAB     ; cpl
        try $37, $00, $68A2     ; scf
        try $3F, $00, $2804     ; ccf
        try $CB, $00, $6121     ; rlc b
        try $CB, $08, $3C6D     ; rrc b
        try $CB, $10, $1E8F     ; rl b
        try $CB, $18, $5116     ; rr b
        try $CB, $20, $FC2B     ; sla b
        try $CB, $28, $7F39     ; sra b
        try $CB, $30, $7B21     ; swap b
        try $CB, $38, $28D1     ; srl b
        try $CB, $40, $2890     ; bit 0, b
        try $CB, $78, $959D     ; bit 7, b
        try $CB, $88, $4DA9     ; res 1, b
        try $CB, $B0, $979B     ; res 6, b
        try $CB, $D0, $72E7     ; set 2, b
        try $CB, $F8, $7E79     ; set 7, b
        ret

; sweep: runs the instruction at STUB 2048 times; hl = the checksum.
;
;   d e   a and the flags to begin with
;   c     b to begin with

sweep:  ld hl, 0
        ld de, 0
        ld c, 0
.turn:  ld b, c
        push de
        push hl
        push de
        pop af
        call STUB
        push af
        pop de
        pop hl
        add hl, hl              ; the checksum goes round by a bit
        jr nc, .even
        inc l
.even:  add hl, de              ; and takes a and the flags
        ld a, l
        xor b                   ; and b
        ld l, a
        pop de
        ld a, c
        add a, $1D              ; the next b
        ld c, a
        ld a, e
        add a, $10              ; the next flags
        and $70
        ld e, a
        jr nz, .turn
        inc c
        inc d                   ; the next a
        jr nz, .turn
        ret

; ------------------------------------------------------------ operands in memory

memory: with $3C00
        ld hl, CELLS
        ld [hl], $12
        add a, [hl]
        expect af, $4E00
        with $E110
        ld [hl], $1E
        adc a, [hl]
        expect af, $00B0
        with $3E00
        ld [hl], $40
        sub a, [hl]
        expect af, $FE50
        with $3B10
        ld [hl], $4F
        sbc a, [hl]
        expect af, $EB70
        with $5A00
        ld [hl], $0F
        and a, [hl]
        expect af, $0A20
        with $FF00
        ld [hl], $8A
        xor a, [hl]
        expect af, $7500
        with $5A00
        or a, [hl]
        expect af, $DA00
        with $8A00
        cp a, [hl]
        expect af, $8AC0

        with $0010
        ld [hl], $FF
        inc [hl]
        expect af, $00B0
        cell CELLS, 0
        with $0000
        ld hl, CELLS
        dec [hl]
        expect af, $0060
        cell CELLS, $FF

        with $0010              ; all shifts of $81, one after another
        ld hl, CELLS
        ld [hl], $81
        rlc [hl]
        expect af, $0010
        cell CELLS, $03
        with $0010
        ld hl, CELLS
        rrc [hl]
        expect af, $0010
        cell CELLS, $81
        with $0000
        ld hl, CELLS
        rl [hl]
        expect af, $0010
        cell CELLS, $02
        with $0010
        ld hl, CELLS
        rr [hl]
        expect af, $0000
        cell CELLS, $81
        with $0010
        ld hl, CELLS
        sra [hl]
        expect af, $0010
        cell CELLS, $C0
        with $0000
        ld hl, CELLS
        sla [hl]
        expect af, $0010
        cell CELLS, $80
        with $00F0
        ld hl, CELLS
        swap [hl]
        expect af, $0000
        cell CELLS, $08
        with $00F0
        ld hl, CELLS
        ld [hl], 1
        srl [hl]
        expect af, $0090
        cell CELLS, 0

        ld hl, CELLS            ; bits
        ld [hl], $7F
        with $0010
        bit 7, [hl]
        expect af, $00B0
        with $00C0
        bit 6, [hl]
        expect af, $0020
        with $00F0
        set 7, [hl]
        res 0, [hl]
        expect af, $00F0
        cell CELLS, $FE
        ret

; ------------------------------------------------------------ sixteen bits

wide:   with $0080              ; `add hl` keeps z
        ld hl, $8A23
        ld bc, $0605
        add hl, bc
        expect hl, $9028
        expect af, $00A0
        with $0000
        ld hl, $8A23
        add hl, hl
        expect hl, $1446
        expect af, $0030
        with $00F0
        ld hl, $0001
        ld de, $00FF
        add hl, de
        expect hl, $0100
        expect af, $0080
        with $0000
        ld hl, $FFFF
        ld bc, $0001
        add hl, bc
        expect hl, $0000
        expect af, $0030

        with $00F0              ; `inc` and `dec` of pairs know no flags
        ld bc, $FFFF
        inc bc
        expect bc, $0000
        expect af, $00F0
        with $0000
        ld de, $0000
        dec de
        expect de, $FFFF
        expect af, $0000
        ld hl, $12FF
        inc hl
        expect hl, $1300
        dec hl
        expect hl, $12FF
        ret

; ------------------------------------------------------------ the stack

stacks: ld bc, $1234
        push bc
        ld hl, sp+0
        ld a, [hl+]             ; the low byte is at the lower address
        ld e, a
        ld d, [hl]
        pop bc
        expect de, $1234
        expect bc, $1234
        ld bc, $12FF            ; the low half of f is always 0
        push bc
        pop af
        push af
        pop bc
        expect bc, $12F0
        ld bc, $120F
        push bc
        pop af
        push af
        pop bc
        expect bc, $1200

        ld [stack], sp          ; keeps the stack pointer while it is elsewhere
        ld sp, $D234
        ld [CELLS], sp
        ld hl, CELLS
        ld a, [hl+]
        ld e, a
        ld d, [hl]
        expect de, $D234
        ld hl, $D012
        ld sp, hl
        ld hl, sp+0
        expect hl, $D012
        inc sp
        ld hl, sp+0
        expect hl, $D013
        dec sp
        ld hl, sp+0
        expect hl, $D012
        ld hl, $1000
        add hl, sp
        expect hl, $E012

        with $00F0              ; the flags come from the low bytes
        ld sp, $D0F8
        ld hl, sp+8
        expect af, $0030
        expect hl, $D100
        with $00F0
        ld sp, $D0F8
        ld hl, sp-8
        expect af, $0030
        expect hl, $D0F0
        with $00F0
        ld sp, $D001
        ld hl, sp-1
        expect af, $0030
        expect hl, $D000
        with $00F0
        ld sp, $D000
        ld hl, sp-1
        expect af, $0000
        expect hl, $CFFF
        with $00F0
        ld sp, $D00F
        ld hl, sp+1
        expect af, $0020
        with $0000
        ld sp, $D0FF
        add sp, 1
        expect af, $0030
        ld hl, sp+0
        expect hl, $D100
        with $00F0
        ld sp, $D100
        add sp, -128
        expect af, $0000
        ld hl, sp+0
        expect hl, $D080

        ld hl, stack
        ld a, [hl+]
        ld h, [hl]
        ld l, a
        ld sp, hl
        ret

; ------------------------------------------------------------ jumps

; b counts what is run: each jump must pass exactly those `inc b` that it should.

jumps:  ld bc, 0
        jr .one
        inc b
.one:   jp .two
        inc b
.two:   ld hl, .three
        jp hl
        inc b
.three: expect bc, 0
        ld b, 3                 ; backward
.back:  inc c
        dec b
        jr nz, .back
        expect bc, 3

; both jumps are tried with flags for which the condition holds, then with others

.macro choose condition, holds, others
        ld bc, 0
        with holds
        jr condition, .first
        inc b
.first: jp condition, .second
        inc b
.second:
        with others
        jr condition, .third
        inc c
.third: with others             ; `inc` has changed them
        jp condition, .last
        inc c
.last:  expect bc, $0002
.endm
        choose nz, $0070, $0080
        choose z, $0080, $0070
        choose nc, $00E0, $0010
        choose c, $0010, $00E0
        ret

; ------------------------------------------------------------ calls

calls:  call .here              ; what a call pushes is the address after it
.here:  pop hl
        expect hl, .here

.macro summon condition, holds, others
        ld bc, 0
        with holds
        call condition, bump
        expect bc, $0100
        with others
        call condition, bump
        expect bc, $0100
        with holds
        call .return
        expect bc, $0100
        with others
        call .return
        jr .last
.return:
        ret condition
        inc c
        ret
.last:  expect bc, $0101
.endm
        summon nz, $0070, $0080
        summon z, $0080, $0070
        summon nc, $00E0, $0010
        summon c, $0010, $00E0

        .rept 8, n
        ld bc, $FFFF
        rst n * 8
        expect bc, n * $800 + $FF
        .endr
        ret

bump:   inc b
        ret

; ------------------------------------------------------------ interrupts

interrupts:
        xor a
        ldh [served], a
        ld a, $1F               ; all are asked for and let through, but
        ldh [rIE], a            ; interrupts are off
        ldh [rIF], a
        nop
        cell served, 0
        halt                    ; goes on, because there is something to do
        nop
        cell served, 0

        ld a, $04               ; `ei` works one instruction later
        ldh [rIF], a
        ld bc, 0
        ei
        inc b
        inc b
        inc b
        di
        expect bc, $0300
        cell served, 1
        cell seen, 1
        cell LOG + 1, 2         ; it was number 2
        ldh a, [rIF]            ; and is not asked for any more
        and $1F
        ld h, 0
        ld l, a
        expect hl, 0

        ld a, $01               ; `di` right after `ei`: nothing happens
        ldh [rIF], a
        ei
        di
        nop
        cell served, 1

        ld bc, 0                ; a second `ei` does not put it off
        ei
        ei
        inc b
        di
        expect bc, $0100
        cell served, 2
        cell seen, 0
        cell LOG + 2, 0

        ld a, $02               ; only those that are let through
        ldh [rIE], a
        ld a, $03
        ldh [rIF], a
        ei
        nop
        nop
        di
        cell served, 3
        cell LOG + 3, 1
        ldh a, [rIF]
        and $1F
        ld h, 0
        ld l, a
        expect hl, 1

        ld a, $FF               ; there are but five
        ldh [rIE], a
        ld a, $E0
        ldh [rIF], a
        ei
        nop
        nop
        di
        cell served, 3

        ld a, $1F               ; all at once: one after another, the lowest
        ldh [rIF], a            ; first, and none inside of another
        ld bc, 0
        ei
        nop
        inc b
        di
        cell served, 8
        cell seen, 0
        cell LOG + 4, 0
        cell LOG + 5, 1
        cell LOG + 6, 2
        cell LOG + 7, 3
        cell LOG + 8, 4
        ldh a, [rIF]
        and $1F
        ld h, 0
        ld l, a
        expect hl, 0

        ld hl, .after           ; `reti` is a `ret` that turns them on at once
        push hl
        ld a, $08
        ldh [rIF], a
        ld b, 0
        reti
.after: inc b
        di
        cell served, 9
        cell seen, 0
        cell LOG + 9, 3

        xor a
        ldh [rIE], a
        ldh [rIF], a
        ret

; record: the end of every handler; a is the number of the interrupt.

record: push hl
        ld hl, served
        inc [hl]
        ld l, [hl]
        ld h, >LOG
        ld [hl], a
        ld a, b
        ldh [seen], a
        pop hl
        pop af
        reti

; ------------------------------------------------------------ check

; check: compares the word after the call with the word on the stack below the
; return address, which it takes away.

check:  ld hl, checks
        inc [hl]
        jr nz, .pop
        inc hl
        inc [hl]
.pop:   pop hl
        pop de
        ld c, [hl]
        inc hl
        ld b, [hl]
        inc hl
        ld a, c
        cp e
        jr nz, .wrong
        ld a, b
        cp d
        jr nz, .wrong
        jp hl

.wrong: push bc
        push de
        push hl
        ld hl, checks
        ld a, [hl+]
        ld h, [hl]
        ld l, a
        call print_test
        call put_dec
        call print
        .asciiz " failed before $"
        pop hl
        call hex16
        call print
        .asciiz ": found $"
        pop hl
        call hex16
        call print
        .asciiz ", wanted $"
        pop hl
        call hex16
        call newline
        di
        xor a
        ldh [rIE], a
        halt

print_test:
        push hl
        call print
        .asciiz "test "
        pop hl
        ret

hex16:  ld a, h
        call put_hex
        ld a, l
        jp put_hex

        .include "lib.asm"
