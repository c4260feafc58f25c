; life.asm: Conway's Game of Life on 16 by 16 cells
;
;   lathe run machines/quad8/programs/life.asm
;
; The idea: 256 cells are exactly one page, so an 8-bit register is the place of a
; cell, and its neighbours are 1, 15, 16 and 17 before and after it. Addition wraps,
; so the world has no edge: below the last row is the first one, and right of a row's
; end is the beginning of the next row. (A torus with a twist.)
;
; Instead of counting the neighbours of each cell, each living cell tells its
; neighbours: it adds 2 to their tallies, in a second page, and 1 to its own. A cell
; lives in the next generation if it has three neighbours, or two and lives already:
; 6 or 7 or 5 in its tally. So: 5, 6 or 7 lives, and all others do not.
;
;   a        the cell we are at
;   b        what is there
;   c        scratch
;   d        pages and addresses

.machine quad8
.include "macros.asm"

EVERY   = 5                             ; every fifth generation is shown
SHOWN   = 9
STACK   = 0x1000

; tell: adds 1 or 2 to the tally at a.

.macro tell_one
        load    c, [a]
        inc     c
        store   c, [a]
.endm

.macro tell_two
        load    c, [a]
        inc     c
        inc     c
        store   c, [a]
.endm

.macro move by                          ; from here to a cell further on
        li      d, (by)[7:0]
        add     a, d
.endm

        stack_at STACK
        clr     a                       ; the generation
        li      b, SHOWN
picture:
        push    b
        push    a
        farcall show
        pop     a
        pop     b
        dec     b
        skipnz  b
        halt

        push    b
        li      b, EVERY
evolve: push    a
        push    b
        call    tally
        call    judge
        pop     b
        pop     a
        inc     a
        dec     b
        jnz     b, evolve
        pop     b
        goto    picture

; tally: every living cell tells its neighbours.

tally:  push    c
        clr     a
.cell:  setpage cells
        load    b, [a]
        jz      b, .next
        setpage tallies
        move    -17
        tell_two
        inc     a
        tell_two
        inc     a
        tell_two
        move    14
        tell_two
        inc     a
        tell_one                        ; itself
        inc     a
        tell_two
        move    14
        tell_two
        inc     a
        tell_two
        inc     a
        tell_two
        move    -17                     ; back
.next:  inc     a
        jnz     a, .cell                ; after 255 comes 0
        pop     c
        ret

; judge: makes the next generation from the tallies, and clears them.

judge:  push    c
        clr     a
.cell:  setpage tallies
        load    b, [a]
        clr     c
        store   c, [a]
        inc     c                       ; it lives,
        li      d, 5
        sub     b, d
        skipge  b                       ; unless the tally is below 5
        clr     c
        li      d, 3
        sub     b, d
        skipl   b                       ; or is 8 or more
        clr     c
        setpage cells
        store   c, [a]
        inc     a
        jnz     a, .cell
        pop     c
        ret

.include "lib.asm"

; show: draws the cells, two characters each, under the number a of the generation.
; A far routine, in a page of its own.

.align 256
show:   push    c
        push    a
        setpage title
        li      a, title
        farcall puts
        pop     a
        farcall put_dec
        farcall newline
        setpage cells
        clr     a
.cell:  load    b, [a]
        li      c, ' '
        li      d, '[' - ' '
        skipz   b
        add     c, d                    ; ' ' or '['
        out     c
        li      c, '.'
        li      d, ']' - '.'
        skipz   b
        add     c, d                    ; '.' or ']'
        out     c
        inc     a
        mov     c, a
        sli     c, 0                    ; the column alone, moved to the left
        jnz     c, .cell
        farcall newline                 ; 0: the row is over
        jnz     a, .cell
        farret

title:  .asciiz "generation "

; The first generation: five cells, the R-pentomino, which keeps changing for longer
; than one would think.

.macro row bits                         ; sixteen bits, one cell each
        .rept   16, n
        .byte   (bits >> 15 - n) & 1
        .endr
.endm

.org 0x0800
cells:  .fill   6 * 16, 0
        row     %0000_0001_1000_0000
        row     %0000_0011_0000_0000
        row     %0000_0001_0000_0000
        .fill   7 * 16, 0
tallies:
        .fill   256, 0
