.machine chip8
; selftest.asm: tries every instruction, as the COSMAC VIP had it
;
;   lathe run machines/chip8/programs/selftest.asm
;
; The idea: a test has a number, operands, and the result that it wants. The screen
; shows OK in the end, or the number of the first test that fails. No key may be
; pressed.
;
;   V1 to V7 operands and results
;   VE       the number of the test, 0 after the last
;
; expect: ve = 0

; want: a register must hold a value.

.macro want register, value
        SE register, value
        JP fail
.endm

; alu: an operation on V1 and V2.

.macro alu number, op, x, y, result, flag
        LD VE, number
        LD V1, x
        LD V2, y
        LD VF, 7
        op V1, V2
        want VF, flag
        want V1, result
        want V2, y
.endm

; bcd: a number as three decimal digits; I does not move.

.macro bcd number, value, hundreds, tens, ones
        LD VE, number
        LD V3, value
        LD I, cells
        LD B, V3
        LD V2, [I]
        want V0, hundreds
        want V1, tens
        want V2, ones
.endm

        .org 0x200

; ---- Arithmetic: the result in V1, the flag in VF, and V2 as it was ----

        alu       1, OR,   0x00, 0xFF, 0xFF, 0
        alu       2, OR,   0x0F, 0x55, 0x5F, 0
        alu       3, OR,   0xAA, 0x55, 0xFF, 0
        alu       4, OR,   0xC3, 0x81, 0xC3, 0

        alu       5, AND,  0x00, 0xFF, 0x00, 0
        alu       6, AND,  0x0F, 0x55, 0x05, 0
        alu       7, AND,  0xAA, 0x55, 0x00, 0
        alu       8, AND,  0xC3, 0x81, 0x81, 0

        alu       9, XOR,  0x00, 0xFF, 0xFF, 0
        alu      10, XOR,  0x0F, 0x55, 0x5A, 0
        alu      11, XOR,  0xAA, 0x55, 0xFF, 0
        alu      12, XOR,  0xC3, 0x81, 0x42, 0

        alu      13, ADD,  0x00, 0x00, 0x00, 0
        alu      14, ADD,  0x01, 0x02, 0x03, 0
        alu      15, ADD,  0xFF, 0x01, 0x00, 1
        alu      16, ADD,  0x80, 0x80, 0x00, 1
        alu      17, ADD,  0xFF, 0xFF, 0xFE, 1
        alu      18, ADD,  0x7F, 0x80, 0xFF, 0

        alu      19, SUB,  0x00, 0x00, 0x00, 1
        alu      20, SUB,  0x05, 0x03, 0x02, 1
        alu      21, SUB,  0x03, 0x05, 0xFE, 0
        alu      22, SUB,  0x00, 0x01, 0xFF, 0
        alu      23, SUB,  0xFF, 0xFF, 0x00, 1
        alu      24, SUB,  0x80, 0x7F, 0x01, 1
        alu      25, SUB,  0x7F, 0x80, 0xFF, 0

        alu      26, SUBN, 0x00, 0x00, 0x00, 1
        alu      27, SUBN, 0x05, 0x03, 0xFE, 0
        alu      28, SUBN, 0x03, 0x05, 0x02, 1
        alu      29, SUBN, 0x00, 0x01, 0x01, 1
        alu      30, SUBN, 0xFF, 0xFF, 0x00, 1
        alu      31, SUBN, 0x80, 0x7F, 0xFF, 0
        alu      32, SUBN, 0x7F, 0x80, 0x01, 1

        alu      33, SHR,  0x55, 0x00, 0x00, 0
        alu      34, SHR,  0x55, 0x01, 0x00, 1
        alu      35, SHR,  0x00, 0x80, 0x40, 0
        alu      36, SHR,  0x12, 0xFF, 0x7F, 1
        alu      37, SHR,  0xFF, 0x7E, 0x3F, 0

        alu      38, SHL,  0x55, 0x00, 0x00, 0
        alu      39, SHL,  0x55, 0x01, 0x02, 0
        alu      40, SHL,  0x00, 0x80, 0x00, 1
        alu      41, SHL,  0x12, 0xFF, 0xFE, 1
        alu      42, SHL,  0xFF, 0x7E, 0xFC, 0

; ---- VF itself as an operand: the flag is written last ----

        LD VE, 43
        LD VF, 200
        LD V1, 100
        ADD VF, V1
        want VF, 1
        LD VE, 44
        LD VF, 3
        LD V1, 5
        SUB VF, V1
        want VF, 0
        LD VE, 45
        LD VF, 3
        LD V1, 5
        SUB V1, VF              ; VF is read before it is written
        want V1, 2
        want VF, 1
        LD VE, 46
        LD VF, 0x81
        SHR VF, VF
        want VF, 1
        LD VE, 47
        LD V1, 9
        LD VF, 6
        OR V1, VF
        want V1, 15
        want VF, 0

; ---- Immediates and copies ----

        LD VE, 48
        LD VF, 7
        LD V1, 250
        ADD V1, 10              ; wraps, and leaves VF alone
        want V1, 4
        want VF, 7
        LD VE, 49
        LD V1, 0xA5
        LD V2, V1
        LD V1, 0
        want V2, 0xA5
        want VF, 7

; ---- Skips ----

        LD VE, 50
        LD V1, 5
        LD V2, 5
        LD V3, 6
        SE V1, 5
        JP fail
        SE V1, V2
        JP fail
        SNE V1, 6
        JP fail
        SNE V1, V3
        JP fail
        LD VE, 51
        LD V4, 0
        SE V1, 6
        ADD V4, 1
        SE V1, V3
        ADD V4, 2
        SNE V1, 5
        ADD V4, 4
        SNE V1, V2
        ADD V4, 8
        want V4, 15

; ---- Jumps and calls ----

        LD VE, 52
        JP .over
        JP fail
.over:  LD VE, 53
        LD V0, 6
        LD V1, 1                ; not used: the jump adds V0
        JP V0, .table
.table: JP fail
        JP fail
        JP fail
        JP .here
        JP fail
.here:  LD VE, 54
        LD V1, 0
        CALL one
        want V1, 3
        LD VE, 55               ; twelve calls, one inside the other
        LD V1, 12
        LD V2, 0
        CALL deep
        want V2, 12

; ---- Memory ----

        LD VE, 56               ; stores V0 to V3, and moves I behind them
        LD V0, 1
        LD V1, 2
        LD V2, 3
        LD V3, 4
        LD V4, 5
        LD I, cells
        LD [I], V3
        LD V0, 99
        LD [I], V0
        LD I, cells
        LD V4, [I]              ; and loads five
        want V0, 1
        want V1, 2
        want V2, 3
        want V3, 4
        want V4, 99
        LD VE, 57               ; loading moves I as well, and leaves the others alone
        LD V1, 77
        LD I, cells
        LD V0, [I]
        want V0, 1
        want V1, 77
        LD V0, [I]
        want V0, 2
        LD VE, 58               ; ADD I leaves VF alone
        LD VF, 9
        LD V1, 3
        LD I, cells
        ADD I, V1
        LD V0, [I]
        want V0, 4
        want VF, 9
        bcd     59, 0, 0, 0, 0
        bcd     60, 9, 0, 0, 9
        bcd     61, 10, 0, 1, 0
        bcd     62, 99, 0, 9, 9
        bcd     63, 100, 1, 0, 0
        bcd     64, 137, 1, 3, 7
        bcd     65, 255, 2, 5, 5

        LD VE, 66               ; the digits have sprites
        LD V5, 0
        LD F, V5
        LD V4, [I]
        want V0, 0xF0
        want V1, 0x90
        want V2, 0x90
        want V3, 0x90
        want V4, 0xF0
        LD V5, 15
        LD F, V5
        LD V4, [I]
        want V0, 0xF0
        want V1, 0x80
        want V2, 0xF0
        want V3, 0x80
        want V4, 0x80
        LD VE, 67               ; a program can write its own instructions
        LD V0, 0x61             ; LD V1, 0x5A
        LD V1, 0x5A
        LD I, .made
        LD [I], V1
        LD V1, 0
.made:  JP fail
        want V1, 0x5A

; ---- The screen: only a collision tells what is on it ----

        LD VE, 68
        LD V1, 10
        LD V2, 10
        LD V3, 0
        LD V4, 0
        LD V6, 63
        LD V7, 31
        CLS
        LD I, solid
        DRW V1, V2, 1
        want VF, 0
        DRW V1, V2, 1           ; the second time takes it away
        want VF, 1
        DRW V1, V2, 1
        want VF, 0
        LD VE, 69               ; I does not move
        LD V0, [I]
        want V0, 0xFF
        LD VE, 70               ; CLS clears
        CLS
        LD I, solid
        DRW V1, V2, 1
        want VF, 0
        LD VE, 71               ; eight pixels, no more
        LD I, dot
        LD V5, 17
        DRW V5, V2, 1
        want VF, 1
        LD V5, 18
        DRW V5, V2, 1
        want VF, 0
        LD V5, 9
        DRW V5, V2, 1
        want VF, 0
        LD VE, 72               ; the sprite ends at the edges
        CLS
        LD I, solid
        DRW V6, V7, 2
        LD I, dot
        DRW V3, V7, 1
        want VF, 0
        DRW V6, V4, 1
        want VF, 0
        DRW V3, V4, 1
        want VF, 0
        DRW V6, V7, 1
        want VF, 1
        LD VE, 73               ; but a place beyond them wraps
        CLS
        LD V5, 69               ; 64 + 5
        LD V2, 35               ; 32 + 3
        LD I, dot
        DRW V5, V2, 1
        LD V5, 5
        LD V2, 3
        DRW V5, V2, 1
        want VF, 1
        LD VE, 74               ; fifteen rows
        CLS
        LD I, tall
        DRW V3, V4, 15
        LD I, dot
        LD V5, 14
        DRW V3, V5, 1
        want VF, 1
        LD V5, 15
        DRW V3, V5, 1
        want VF, 0
        LD VE, 75               ; one pixel among others is a collision
        CLS
        LD I, dot
        DRW V3, V4, 1
        LD I, solid
        DRW V3, V4, 1
        want VF, 1
        CLS

; ---- Chance, timers, keys ----

        LD VE, 76
        RND V1, 0
        want V1, 0
        RND V1, 0x0F
        LD V2, 0xF0
        AND V1, V2
        want V1, 0
        LD VE, 77               ; sixteen numbers that are not all the same
        RND V1, 255
        LD V3, 16
.again: RND V2, 255
        SE V1, V2
        JP .chance
        ADD V3, -1
        SE V3, 0
        JP .again
        JP fail
.chance:
        LD VE, 78               ; the delay timer goes down to 0 and stays there
        LD V1, 3
        LD DT, V1
        LD V3, 0
.wait:  ADD V3, 1
        SNE V3, 100
        JP fail
        LD V2, DT
        SE V2, 0
        JP .wait
        LD V3, 20
.stay:  ADD V3, -1
        SE V3, 0
        JP .stay
        LD V2, DT
        want V2, 0
        LD VE, 79
        LD V1, 200
        LD DT, V1
        LD V2, 0
        LD ST, V2               ; the timers are two
        LD V2, DT
        LD V3, 198
        SUB V2, V3              ; 198 to 200
        want VF, 1
        LD VE, 80               ; no key is down
        LD V1, 0
.key:   SKP V1
        SKNP V1
        JP fail
        ADD V1, 1
        SE V1, 16
        JP .key

        CLS
        LD VE, 0
        LD V1, 24
        LD V2, 12
        LD I, letter_o
        DRW V1, V2, 8
        ADD V1, 9
        LD I, letter_k
        DRW V1, V2, 8
        JP $

; one, two: calls inside calls.

one:    ADD V1, 1
        CALL two
        ADD V1, 1
        RET
two:    ADD V1, 1
        RET

; deep: calls itself V1 times and counts in V2 on the way back.

deep:   ADD V1, -1
        SE V1, 0
        CALL deep
        ADD V2, 1
        RET

; fail: draws the number in VE.

fail:   CLS
        LD I, cells
        LD B, VE
        LD V2, [I]
        LD V3, 2
        LD V4, 2
        LD F, V0
        DRW V3, V4, 5
        ADD V3, 5
        LD F, V1
        DRW V3, V4, 5
        ADD V3, 5
        LD F, V2
        DRW V3, V4, 5
        JP $

dot:    db 0b10000000
solid:  db 0b11111111, 0b11111111
tall:   db 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
        db 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
letter_o:
        db 0b01111100
        db 0b11000110
        db 0b11000110
        db 0b11000110
        db 0b11000110
        db 0b11000110
        db 0b11000110
        db 0b01111100
letter_k:
        db 0b11000110
        db 0b11001100
        db 0b11011000
        db 0b11110000
        db 0b11110000
        db 0b11011000
        db 0b11001100
        db 0b11000110
cells:  .space 8
