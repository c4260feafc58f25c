; life.asm: Conway's Game of Life on a torus of 16 by 16 cells
;
;   lathe run machines/hex8/programs/life.asm
;
; The idea: 256 cells fill one page of memory, and the low byte of a cell's
; address is its place: row in the left hexadecimal digit, column in the right.
; Taking a row or a column modulo 16 is masking a digit, so the world has no
; edges: what leaves on one side comes in on the other. Two pages take turns; one
; holds this generation, the other receives the next, and to swap them is to swap
; two registers.
;
; A cell lives in the next generation if it has three neighbours, or if it lives
; and has two. Counting the cell in with its neighbours, that is: the nine add up
; to 3, or to 4 and the cell lives.
;
;   r1       generation
;   r2, r3   high byte of this generation's page and of the next one's
;   r4       the cell we are at
;   r5 r6 r7 columns: left of it, its own, right of it
;   r8 r9 r10 rows: above it, its own, below it
;   r11      living cells among the nine
;   r0       a cell; r12 .. r15 truth values and scratch

.machine hex8

EVERY   = 3                             ; an odd number, or the blinker seems to stand still
LAST    = 24

; look: adds the cell at this row and column to r11.

.macro look row, column
        mov     r15, row
        or      r15, column
        loadind r0, r2, r15
        add     r11, r0
.endm

        loadimm r2, hi(world)
        loadimm r3, hi(other)

        call    show
evolve: call    generation
        mov     r0, r2                  ; the next generation is this one now
        mov     r2, r3
        mov     r3, r0
        inc     r1
        modimm  r0, r1, EVERY
        eqimm   r0, r0, 0
        xorimm  r0, r0, 1
        jmpfwdo r0, quiet
        call    show
quiet:  neqimm  r0, r1, LAST
        jmpo    r0, evolve
        jmp     $

; generation: from the page r2 makes the page r3.

generation:
        loadimm r4, 0
.cell:  subimm  r5, r4, 1
        andimm  r5, r5, 0x0F
        andimm  r6, r4, 0x0F
        addimm  r7, r4, 1
        andimm  r7, r7, 0x0F
        subimm  r8, r4, 0x10
        andimm  r8, r8, 0xF0
        andimm  r9, r4, 0xF0
        addimm  r10, r4, 0x10
        andimm  r10, r10, 0xF0

        loadimm r11, 0
        look    r8, r5
        look    r8, r6
        look    r8, r7
        look    r9, r5
        look    r9, r7
        look    r10, r5
        look    r10, r6
        look    r10, r7
        look    r9, r6                  ; itself last, and in r0 when we are done

        eqimm   r15, r11, 4
        and     r15, r0
        eqimm   r14, r11, 3
        or      r15, r14
        storeind r15, r3, r4
        inc     r4
        neqimm  r15, r4, 0              ; 256 cells, and we are back at 0
        jmpbwdo r15, .cell
        return

; show: draws the page r2, two characters to a cell, so that it looks square.

show:   call    print
        .asciiz "generation "
        mov     r0, r1
        call    put_dec
        loadimm r4, 0
.cell:  andimm  r15, r4, 0x0F
        neqimm  r15, r15, 0
        jmpfwdo r15, .inside
        call    newline                 ; a new row
.inside:
        loadind r0, r2, r4
        mulimm  r14, r0, '[' - ' '      ; ' ' or '['
        addimm  r14, r14, ' '
        output  r14
        mulimm  r14, r0, ']' - '.'      ; '.' or ']'
        addimm  r14, r14, '.'
        output  r14
        inc     r4
        neqimm  r15, r4, 0
        jmpo    r15, .cell
        call    newline
        return

.include "lib.asm"

; The first generation: a glider at the top left flies down to the right; a
; blinker, a block and a toad wait in its world.

.macro row cells                        ; sixteen bits, one cell each
        .rept   16, n
        .byte   (cells >> 15 - n) & 1
        .endr
.endm

.align 256
world:  row     %0000_0000_0000_0000
        row     %0010_0000_0000_0000
        row     %0001_0000_0000_1100
        row     %0111_0000_0000_1100
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_1110
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0011_1000_0000_0000
        row     %0111_0000_0000_0000
        row     %0000_0000_0000_0000
        row     %0000_0000_0000_0000
other:  .space  256
