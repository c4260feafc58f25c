.machine lc3
; selftest.asm: tries every instruction, the condition codes and the trap routines
;
;   printf 'acn' | lathe run machines/lc3/programs/selftest.asm
;
; The idea: a test has a number, operands, and the result that the textbook demands,
; with the condition code that goes with it. At the end it prints `ok`. If a test
; fails, it prints the number of the test instead and stops. The letters before
; `ok` are written by the trap routines; those that the program reads must be a, c
; and n.
;
;   R0 to R4 operands and results
;   R5       for comparing
;
; input: "acn"
; expect: output
; | bdefg
; | hijklm
; | Input a character> n
; | ok

; SET: a register gets any value.

.macro SET register, value
        LD      register, .value
        BRnzp   .on
.value: .FILL   value
.on:    ADD     register, register, #0
.endm

; BAD: this must not be reached.

.macro BAD number
        LD      R0, .number
        LD      R1, .fail
        JMP     R1
.number: .FILL  number
.fail:  .FILL   FAIL
.endm

; ISN, ISZ, ISP: exactly this condition code must be set. ANY: it does not matter.

.macro ISN bad
        BRzp    bad
        BRn     .on
        BRnzp   bad
.on:
.endm
.macro ISZ bad
        BRnp    bad
        BRz     .on
        BRnzp   bad
.on:
.endm
.macro ISP bad
        BRnz    bad
        BRp     .on
        BRnzp   bad
.on:
.endm
.macro ANY bad
.endm

; IS: a register must hold a value, and the condition code must be the given one.

.macro IS number, register, value, code
code    .bad
        LD      R5, .minus
        ADD     R5, R5, register
        BRz     .on
.bad:   BAD     number
.minus: .FILL   (x10000 - value) & xFFFF
.on:
.endm

; RR, RI, NOTS: an operation on two registers, on a register and an immediate, on one.

.macro RR number, op, x, y, result, code
        SET     R1, x
        SET     R2, y
        op      R3, R1, R2
        IS      number, R3, result, code
.endm
.macro RI number, op, x, y, result, code
        SET     R1, x
        op      R3, R1, y
        IS      number, R3, result, code
.endm
.macro NOTS number, x, result, code
        SET     R1, x
        NOT     R3, R1
        IS      number, R3, result, code
.endm

; JUMPS, STAYS: a branch that must be taken, or not, after a value.

.macro JUMPS number, op, value
        SET     R1, value
op      .on
        BAD     number
.on:
.endm
.macro STAYS number, op, value
        SET     R1, value
op      .bad
        BRnzp   .on
.bad:   BAD     number
.on:
.endm

; KNOWN, STILL: R1 to R6 get values, and must have them still.

.macro KNOWN
        SET     R1, x1111
        SET     R2, x2222
        SET     R3, x3333
        SET     R4, x4444
        SET     R5, x5555
        SET     R6, x6666
.endm
.macro STILL number
        ST      R5, .keep
        IS      number, R1, x1111, ANY
        IS      number, R2, x2222, ANY
        IS      number, R3, x3333, ANY
        IS      number, R4, x4444, ANY
        IS      number, R6, x6666, ANY
        LD      R4, .keep
        IS      number, R4, x5555, ANY
        BRnzp   .on
.keep:  .BLKW   1
.on:
.endm

        .ORIG   x3000

; ---- Arithmetic ----

        RR     1, ADD, x0000, x0000, x0000, ISZ
        RR     2, ADD, x0001, x0001, x0002, ISP
        RR     3, ADD, x0001, xFFFF, x0000, ISZ
        RR     4, ADD, x7FFF, x0001, x8000, ISN
        RR     5, ADD, x8000, x8000, x0000, ISZ
        RR     6, ADD, x8000, xFFFF, x7FFF, ISP
        RR     7, ADD, xFFFF, xFFFF, xFFFE, ISN
        RR     8, ADD, x1234, x4321, x5555, ISP
        RR     9, ADD, xFFFE, x0001, xFFFF, ISN

        RI     10, ADD, x0000, #0, x0000, ISZ
        RI     11, ADD, x0001, #-1, x0000, ISZ
        RI     12, ADD, x0000, #15, x000F, ISP
        RI     13, ADD, x0000, #-16, xFFF0, ISN
        RI     14, ADD, x7FFF, #1, x8000, ISN
        RI     15, ADD, x8000, #-1, x7FFF, ISP
        RI     16, ADD, xFFF1, #15, x0000, ISZ
        RI     17, ADD, x0010, #-16, x0000, ISZ

        RR     18, AND, xFFFF, xFFFF, xFFFF, ISN
        RR     19, AND, xF0F0, x0FF0, x00F0, ISP
        RR     20, AND, xF0F0, x0F0F, x0000, ISZ
        RR     21, AND, x8000, xFFFF, x8000, ISN
        RR     22, AND, x7FFF, x8000, x0000, ISZ
        RR     23, AND, x1234, xFF00, x1200, ISP

        RI     24, AND, xFFFF, #-1, xFFFF, ISN
        RI     25, AND, x8001, #-16, x8000, ISN
        RI     26, AND, x1234, #15, x0004, ISP
        RI     27, AND, xFFF0, #15, x0000, ISZ
        RI     28, AND, x7FFF, #-16, x7FF0, ISP
        RI     29, AND, x8000, #0, x0000, ISZ

        NOTS   30, x0000, xFFFF, ISN
        NOTS   31, xFFFF, x0000, ISZ
        NOTS   32, x7FFF, x8000, ISN
        NOTS   33, x8000, x7FFF, ISP
        NOTS   34, x1234, xEDCB, ISN
        NOTS   35, xEDCB, x1234, ISP

; ---- Branches ----

        JUMPS   36, BRn, x8000
        STAYS  37, BRz, x8000
        STAYS  38, BRp, x8000
        JUMPS  39, BRnz, x8000
        JUMPS  40, BRnp, x8000
        STAYS   41, BRzp, x8000
        JUMPS  42, BRnzp, x8000
        JUMPS  43, BR, x8000
        STAYS   44, BRn, x0000
        JUMPS   45, BRz, x0000
        STAYS   46, BRp, x0000
        JUMPS   47, BRnz, x0000
        STAYS   48, BRnp, x0000
        JUMPS  49, BRzp, x0000
        JUMPS  50, BRnzp, x0000
        JUMPS  51, BR, x0000
        STAYS  52, BRn, x0001
        STAYS  53, BRz, x0001
        JUMPS   54, BRp, x0001
        STAYS   55, BRnz, x0001
        JUMPS  56, BRnp, x0001
        JUMPS  57, BRzp, x0001
        JUMPS  58, BRnzp, x0001
        JUMPS  59, BR, x0001

; ---- One register in several places ----

        SET     R1, x0123
        ADD     R1, R1, R1
        IS      60, R1, x0246, ISP
        AND     R1, R1, R1
        IS      61, R1, x0246, ISP
        NOT     R1, R1
        IS      62, R1, xFDB9, ISN

; ---- Loads and stores ----

        BRnzp   LOADS
NEG     .FILL   x8001
NUL     .FILL   x0000
POS     .FILL   x7FFF
TO_NEG  .FILL   NEG
TO_NUL  .FILL   NUL
TO_POS  .FILL   POS
CELL    .BLKW   3
TO_CELL .FILL   CELL + 1
LOADS
        LD      R0, NEG
        IS      63, R0, x8001, ISN
        LD      R0, NUL
        IS      64, R0, x0000, ISZ
        LD      R0, POS
        IS      65, R0, x7FFF, ISP
        LDI     R0, TO_NEG
        IS      66, R0, x8001, ISN
        LDI     R0, TO_NUL
        IS      67, R0, x0000, ISZ
        LDI     R0, TO_POS
        IS      68, R0, x7FFF, ISP
        LEA     R1, TO_NEG
        LDR     R0, R1, #-3
        IS      69, R0, x8001, ISN
        LEA     R1, NUL
        LDR     R0, R1, #0
        IS      70, R0, x0000, ISZ
        LDR     R1, R1, #1              ; into its own base
        IS      71, R1, x7FFF, ISP

        SET     R0, x0001               ; LEA leaves the condition codes alone
        LEA     R1, NEG
        IS      72, R0, x0001, ISP
        LDR     R2, R1, #0
        IS      73, R2, x8001, ISN
        SET     R0, x8000
        LEA     R1, NEG
        IS      74, R0, x8000, ISN

        SET     R0, x0005               ; so do stores
        SET     R1, x8765
        ST      R0, CELL
        IS      75, R1, x8765, ISN
        LD      R2, CELL
        IS      76, R2, x0005, ISP
        SET     R0, x0000
        SET     R1, x1111
        STI     R0, TO_CELL
        IS      77, R1, x1111, ISP
        LEA     R3, CELL
        LDR     R2, R3, #1
        IS      78, R2, x0000, ISZ
        SET     R0, x9ABC
        SET     R1, x0000
        STR     R0, R3, #2
        IS      79, R1, x0000, ISZ
        LDR     R2, R3, #2
        IS      80, R2, x9ABC, ISN
        ADD     R3, R3, #5
        LDR     R2, R3, #-5
        IS      81, R2, x0005, ISP
        STR     R3, R3, #-4             ; its own base
        LDR     R2, R3, #-4
        NOT     R2, R2
        ADD     R2, R2, #1
        ADD     R2, R2, R3
        IS      82, R2, x0000, ISZ
        SET     R3, x5000               ; the widest offsets
        SET     R0, x0A0A
        STR     R0, R3, #31
        SET     R0, x0B0B
        STR     R0, R3, #-32
        SET     R3, x501F
        LDR     R1, R3, #0
        IS      83, R1, x0A0A, ISP
        SET     R3, x4FE0
        LDR     R1, R3, #0
        IS      84, R1, x0B0B, ISP
        SET     R3, xFFFF               ; an address goes on at 0 after xFFFF
        SET     R0, x4321
        STR     R0, R3, #2
        SET     R3, x0001
        LDR     R1, R3, #0
        IS      85, R1, x4321, ISP

; ---- Jumps and calls ----

        SET     R0, x0000
        LEA     R1, OVER1
        JMP     R1
        BAD     86
OVER1   IS      86, R0, x0000, ISZ

        JSR     OVER2                   ; R7 is the address after JSR
BACK2   BAD     87
OVER2   LEA     R1, BACK2
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R7
        IS      87, R1, x0000, ISZ

        LEA     R2, OVER3
        SET     R0, x8000
        JSRR    R2                      ; the condition codes stay
BACK3   BAD     88
OVER3   IS      88, R0, x8000, ISN
        LEA     R1, BACK3
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R7
        IS      89, R1, x0000, ISZ

        LEA     R7, OVER4               ; through R7 itself: first there, then the link
        JSRR    R7
BACK4   BAD     90
OVER4   LEA     R1, BACK4
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R7
        IS      90, R1, x0000, ISZ

        SET     R0, x0014
        JSR     TWICE
        IS      91, R0, x0028, ISP
        BRnzp   OVER5
TWICE   ADD     R0, R0, R0
        RET
OVER5
        SET     R0, x0000               ; a branch without a condition goes nowhere
        .FILL   x0003
        IS      92, R0, x0000, ISZ

; ---- RTI: the address and the condition codes from the stack ----

        SET     R6, x5000
        LEA     R0, OVER6
        STR     R0, R6, #0
        SET     R1, x0004               ; negative
        STR     R1, R6, #1
        SET     R0, x0001
        RTI
        BAD     93
OVER6   IS      93, R0, x0001, ISN
        SET     R0, xAFFE               ; -x5002
        ADD     R0, R0, R6
        IS      94, R0, x0000, ISZ

; ---- TRAP: a routine of our own ----

        SET     R1, x0030
        LEA     R0, MINE
        STR     R0, R1, #0
        SET     R0, x0021
        TRAP    x30
BACK7   IS      95, R0, x0042, ISP
        LEA     R1, BACK7
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R2
        IS      96, R1, x0000, ISZ
        BRnzp   OVER7
MINE    ADD     R2, R7, #0
        ADD     R0, R0, R0
        RET
OVER7

; ---- The devices ----

        BRnzp   OVER8
KBSR    .FILL   xFE00
KBDR    .FILL   xFE02
DSR     .FILL   xFE04
DDR     .FILL   xFE06
MCR     .FILL   xFFFE
OVER8
        LDI     R0, KBSR                ; a character waits
        IS      97, R0, x8000, ISN
        LDI     R0, KBDR
        IS      98, R0, x0061, ISP      ; a
        LDI     R0, DSR
        IS      99, R0, x8000, ISN
        LDI     R0, MCR
        IS      100, R0, x8000, ISN
        SET     R0, x0062               ; b
        STI     R0, DDR

; ---- The trap routines ----

        KNOWN                           ; values in R1 to R6, which must stay
        GETC
        STILL   101
        IS      102, R0, x0063, ANY     ; c

        KNOWN
        SET     R0, x0064               ; d
        OUT
        STILL   103
        IS      104, R0, x0064, ANY

        KNOWN
        LEA     R0, TEXT
        PUTS
        STILL   105
        LEA     R1, TEXT
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R0
        IS      106, R1, x0000, ISZ

        KNOWN
        LEA     R0, PACKED
        PUTSP
        STILL   107
        LEA     R1, PACKED
        NOT     R1, R1
        ADD     R1, R1, #1
        ADD     R1, R1, R0
        IS      108, R1, x0000, ISZ
        LEA     R0, PACKED2
        PUTSP
        BRnzp   OVER9
TEXT    .STRINGZ "efg\n"
PACKED  .FILL   x6968                   ; hi
        .FILL   x6B6A                   ; jk
        .FILL   x0000
PACKED2 .FILL   x6D6C                   ; lm
        .FILL   x000A                   ; an odd one at the end
        .FILL   x0000
OVER9
        KNOWN
        IN
        STILL   109
        IS      110, R0, x006E, ANY     ; n

        LEA     R0, OK
        PUTS
        HALT
        BAD     111                     ; HALT does not come back
OK      .STRINGZ "\nok\n"

; FAIL: prints the number in R0 and stops.

FAIL    ST      R0, NUMBER
        LEA     R0, FAILED
        PUTS
        LD      R0, NUMBER
        JSR     PRINT
        JSR     LINE
        HALT
NUMBER  .BLKW   1
FAILED  .STRINGZ "\nfailed: test "

        .include "lib.asm"
        .END
