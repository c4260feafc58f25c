; suite.asm: runs every kind of instruction, as test suites for processors do
;
;   lathe run benches/real/sm83/suite.asm -D ROUNDS=10
;
; Instructions are written into a stub and executed there, all those between
; registers, the memory and the accumulator and all that begin with $CB, with
; random values in the registers. What they leave goes into the checksum. In
; between come calls in calls, `rst`, `daa`, interrupts, and operands that are
; patched.

.machine sm83

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

rIF     = $FF0F
rIE     = $FFFF

random  = $FF80                 ; 2 bytes each, the low one first
sum     = $FF82
rounds  = $FF84
opcode  = $FF86                 ; 1 byte

CELL    = $C100                 ; what hl leads to

        .rept 8, n              ; where `rst` goes
        .org n * 8
        inc b
        ret
        .endr

        .org $48                ; an interrupt
        push af
        ld a, $48
        call mix
        pop af
        reti

        .org $150
        .entry start

start:  ld sp, $E000
        ld a, <ROUNDS
        ldh [rounds], a
        ld a, >ROUNDS
        ldh [rounds+1], a

round:  ld a, $40               ; ld, add, adc, …, cp
.plain: cp a, $76               ; `halt`
        jr z, .skip
        ldh [opcode], a
        ld [stub], a
        xor a, a                ; `nop`
        ld [stub+1], a
        call sample
        call sample
        ldh a, [opcode]
.skip:  inc a
        cp a, $C0
        jr nz, .plain

        ld a, $CB               ; rotate, bit, res, set
        ld [stub], a
        xor a, a
.more:  ldh [opcode], a
        ld [stub+1], a
        call sample
        ldh a, [opcode]
        inc a
        jr nz, .more

        ld hl, others           ; and the others without an operand
.other: ld a, [hl+]
        or a, a
        jr z, .end
        push hl
        ld [stub], a
        xor a, a
        ld [stub+1], a
        call sample
        call sample
        pop hl
        jr .other

.end:   call decimal
        call nested
        call interrupts
        call patched
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
        jp nz, round
        ldh a, [sum+1]
        call put_hex
        ldh a, [sum]
        call put_hex
        ld a, '\n'
        call putc
        halt

; sample: runs the instruction in the stub once, on random values.

sample: call next
        ld [CELL], a
        call next
        ld b, a
        call next
        ld c, a
        push bc
        pop af                  ; a and the flags
        push af
        call next
        ld b, a
        call next
        ld d, a
        cpl
        ld e, a
        ld c, d
        ld hl, CELL
        pop af
stub:   nop
        nop
        push af
        push hl
        push de
        ld a, b
        call mix
        ld a, c
        call mix
        pop bc
        ld a, b
        call mix
        ld a, c
        call mix
        pop bc
        ld a, b
        call mix
        ld a, c
        call mix
        pop bc
        ld a, b
        call mix
        ld a, c
        call mix
        ld a, [CELL]
        jp mix

; decimal: sums and differences of digits.

decimal:
        ld d, 8
.next:  push de
        call next
        pop de
        ld b, a
        ldh a, [sum]
        add a, b
        daa
        push af
        call mix
        pop af
        sbc a, b
        daa
        call mix
        dec d
        jr nz, .next
        ret

; nested: calls in calls, `rst`, and a return to where it was told to.

nested: call .one
        call nz, .one
        call z, .one
        ld b, 0
        rst 0
        rst 8
        rst 0x30
        ld a, b
        call mix
        ld hl, .back
        push hl
        ret
.one:   call .two
        call .two
        ld a, 1
        jp mix
.two:   call .three
        scf
        call c, .three
        ld a, 2
        jp mix
.three: ld hl, sp+4
        ld a, l
        call mix
        or a, a
        ret nc
        ld a, 77
        jp mix
.back:  add sp, -4
        ld hl, sp+0
        ld a, l
        add sp, 4
        jp mix

; interrupts: the second one is asked for, twice, and served.

interrupts:
        ld a, 2
        ldh [rIE], a
        ei
        ldh [rIF], a
        nop
        ld a, 2
        ldh [rIF], a
        nop
        di
        ret

; patched: an operand and an address that the program counts up.

patched:
        xor a, a
        ld [.number+1], a
        ld a, <others
        ld [.place+1], a
        ld d, 16
.number:
        ld b, 0
.place: ld a, [others]
        xor a, b
        push de
        call mix
        pop de
        ld hl, .number+1
        inc [hl]
        ld hl, .place+1
        inc [hl]
        dec d
        jr nz, .number
        ret

; mix: turns the checksum by one bit to the left and adds a. Keeps b, c, d and e.

mix:    push de
        ld e, a
        ld d, 0
        ldh a, [sum]
        ld l, a
        ldh a, [sum+1]
        ld h, a
        add hl, hl
        jr nc, .add
        inc hl
.add:   add hl, de
        ld a, l
        ldh [sum], a
        ld a, h
        ldh [sum+1], a
        pop de
        ret

        .include "lib.asm"

        .align 256
others: .byte $03, $04, $05, $07, $09, $0B, $0C, $0D, $0F, $13, $14, $15, $17, $19, $1B, $1C, $1D, $1F
        .byte $23, $24, $25, $27, $29, $2A, $2B, $2C, $2D, $2F, $32, $34, $35, $37, $39, $3A, $3C, $3D, $3F, 0
