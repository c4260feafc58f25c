; mandelbrot.asm: the Mandelbrot set, with eight bits
;
;   lathe run machines/quad8/programs/mandelbrot.asm
;
; The idea: for every point c of the plane repeat z = z*z + c, starting with 0, and
; count the steps until z leaves the circle of radius 2. With z = x + iy a step is
;
;   x' = x*x - y*y + cx
;   y' = 2*x*y     + cy
;
; A machine that cannot even shift to the right should do this with tables, and on
; quad8 a table is a page: one byte for each value of a byte. Numbers count in units
; of 1/32, so a register holds -4 to 4. Two tables suffice:
;
;   squares   v*v/32: x*x and y*y; 128 stands for all that is 4 or more
;   halves    v*v/64, because 2*x*y = ((x+y)*(x+y) - (x-y)*(x-y)) / 2
;
; And 1/32 is a lucky unit. x*x + y*y reaches 4 when it reaches 128, the sign bit:
; `skipge` asks whether z has left. Should x or y itself overflow, it was between 4 and
; 6 and comes out between -4 and -2: still outside, so the next step notices.
;
;   a        x, then x'
;   b        y, then y'
;   c, d     scratch
;   page     changes all the time: squares, halves, variables

.machine quad8
.include "macros.asm"

LEFT    = -60                           ; -1.88
COLUMNS = 79                            ; one column is one unit,
TOP     = -38                           ; -1.19
ROWS    = 39                            ; one row is two
LIMIT   = 26                            ; steps after which we believe it
STACK   = 0x1000

        stack_at STACK
        setpage vars
        li      a, TOP[7:0]
        put     a, cy

line:   li      a, LEFT[7:0]
        put     a, cx

point:  li      a, 0
        put     a, steps
        clr     b                       ; z = 0: a and b are 0

iterate:
        setpage squares
        load    c, [a]                  ; x*x
        load    d, [b]                  ; y*y
        push    c
        push    d
        skipl   c                       ; if x*x alone is 4, that is enough
        add     c, d
        jl      c, gone                 ; 4 or more

        mov     c, a
        add     c, b                    ; x + y
        mov     d, a
        sub     d, b                    ; x - y
        li      a, hi(halves)           ; x and y are no longer needed
        page    a
        load    b, [c]
        load    d, [d]
        sub     b, d                    ; 2*x*y
        pop     d
        pop     a
        sub     a, d                    ; x*x - y*y

        setpage vars
        get     c, cx
        add     a, c
        get     c, cy
        add     b, c
        get     c, steps
        inc     c
        put     c, steps
        li      d, LIMIT
        sub     c, d
        jnz     c, iterate
        push    c                       ; so that the stack is as high as at `gone`
        push    c

gone:   pop     c                       ; the squares are not needed any more
        pop     c
        setpage vars
        get     a, steps
        li      c, palette              ; in the same page as the variables
        add     a, c
        load    c, [a]
        out     c

        get     a, cx                   ; the next point
        inc     a
        put     a, cx
        li      c, (LEFT + COLUMNS)[7:0]
        sub     c, a
        jnz     c, point

        li      c, '\n'                 ; the next line
        out     c
        get     a, cy
        inc     a
        inc     a
        put     a, cy
        li      c, (TOP + 2 * ROWS)[7:0]
        sub     c, a
        jnz     c, line
        halt

; The tables. The upper half of each page is for negative numbers, -128 to -1. Half
; of the divisor is added before dividing, which rounds to the nearest.

.macro square v
        .byte   (v) < 64 ? ((v) * (v) + 16) / 32 : 128
.endm

.macro half_square v
        .byte   (((v) * (v) + 32) / 64)[7:0]
.endm

.org 0x0200
squares:
        .rept   128, n
        square  n
        .endr
        .rept   128, n
        square  128 - n
        .endr

halves:
        .rept   128, n
        half_square n
        .endr
        .rept   128, n
        half_square 128 - n
        .endr

vars:
cx:     .byte   0
cy:     .byte   0
steps:  .byte   0
palette:
        .ascii  "  .,-:;=+ox**%%%%%########"
        .byte   '@'                     ; after LIMIT steps: the set itself
.assert $ - palette == LIMIT + 1, "one character for every number of steps"
