; mandelbrot.asm: the Mandelbrot set in letters
;
;   lathe run machines/hex8/programs/mandelbrot.asm
;
; The idea: for every point c of the plane repeat z = z*z + c, starting with 0,
; and count the steps until z leaves the circle of radius 2. Where it never does,
; is the set. With z = x + iy a step is
;
;   x' = x*x - y*y + cx
;   y' = 2*x*y     + cy  =  (x+y)*(x+y) - x*x - y*y + cy
;
; so squaring is all the multiplication there is: `square`, at the end, does it
; with the help of a table. Numbers are 16 bits with a sign, the high byte before
; the point and the low byte after it: 0x0180 is 1.5.
;
;   r0:r1    what is squared, and its square
;   r2:r3    x           r10:r11  x*x
;   r4:r5    y           r12:r13  y*y
;   r6:r7    cx          r14 r15  scratch
;   r8:r9    cy

.machine hex8
.include "macros.asm"

COLUMNS = 64
ROWS    = 25
STEP    = 12                            ; 12/256 to the right; a row is twice as far
LEFT    = -576                          ; -2.25
TOP     = -288                          ; -1.125
LIMIT   = 30                            ; steps after which we believe it

; set16: hi:lo = value;  step16: hi:lo += a small value

.macro set16 hi, lo, value
        loadimm hi, (value)[15:8]
        loadimm lo, (value)[7:0]
.endm

.macro step16 hi, lo, value
        addimm  lo, lo, value
        ltimm   r15, lo, value          ; the carry
        add     hi, r15
.endm

.macro mov16 hi, lo, hi2, lo2
        mov     hi, hi2
        mov     lo, lo2
.endm

        set16   r8, r9, TOP
line:   set16   r6, r7, LEFT

point:  set16   r2, r3, 0
        set16   r4, r5, 0
        loadimm r0, 0
        storemem r0, steps

iterate:
        mov16   r0, r1, r2, r3
        call    square
        mov16   r10, r11, r0, r1        ; x*x
        mov16   r0, r1, r4, r5
        call    square
        mov16   r12, r13, r0, r1        ; y*y
        add16   r0, r1, r10, r11
        gtimm   r14, r0, 3              ; x*x + y*y >= 4: gone
        jmpo    r14, plot

        mov16   r0, r1, r2, r3
        add16   r0, r1, r4, r5
        call    square                  ; (x+y)*(x+y)
        sub16   r0, r1, r10, r11
        sub16   r0, r1, r12, r13
        add16   r0, r1, r8, r9
        mov16   r4, r5, r0, r1          ; the new y
        mov16   r2, r3, r10, r11
        sub16   r2, r3, r12, r13
        add16   r2, r3, r6, r7          ; the new x

        loadmem r0, steps
        inc     r0
        storemem r0, steps
        neqimm  r14, r0, LIMIT
        jmpo    r14, iterate

plot:   loadmem r1, steps               ; the palette begins its page, so the
        loadimm r0, hi(palette)         ; number of steps is the low byte
        loadind r0, r0, r1
        output  r0

        step16  r6, r7, STEP
        loadimm r0, (LEFT + COLUMNS * STEP)[15:8]
        eq      r0, r6
        loadimm r1, (LEFT + COLUMNS * STEP)[7:0]
        eq      r1, r7
        and     r0, r1
        xorimm  r0, r0, 1
        jmpo    r0, point

        loadimm r0, '\n'
        output  r0
        step16  r8, r9, 2 * STEP
        loadimm r0, (TOP + ROWS * 2 * STEP)[15:8]
        eq      r0, r8
        loadimm r1, (TOP + ROWS * 2 * STEP)[7:0]
        eq      r1, r9
        and     r0, r1
        xorimm  r0, r0, 1
        jmpo    r0, line
        jmp     $

; square: r0:r1 = r0:r1 squared, for numbers between -8 and 8. With h before the
; point and l after it, in units of 1/256:
;
;   (256h + l) * (256h + l) / 256  =  256*h*h + 2*h*l + l*l/256
;
; The last term comes from a table. `mul` gives only eight bits, so the middle one
; is made of two products that fit: 2h times each hexadecimal digit of l.

square: shrimm  r15, r0, 7              ; a square does not care for the sign
        xorimm  r15, r15, 1
        jmpfwdo r15, .positive
        not     r0
        not     r1
        inc16   r0, r1
.positive:
        loadimm r14, hi(squares)
        loadind r14, r14, r1            ; l*l/256: the result is r0:r14
        shlimm  r15, r0, 1              ; 2h
        mul     r0, r0                  ; h*h

        push    r1
        andimm  r1, r1, 15
        mul     r1, r15                 ; 2h times the right digit
        add     r14, r1
        gt      r1, r14                 ; the carry
        add     r0, r1
        pop     r1

        shrimm  r1, r1, 4
        mul     r1, r15                 ; 2h times the left digit,
        shrimm  r15, r1, 4              ; which stands one digit higher
        add     r0, r15
        shlimm  r1, r1, 4
        add     r14, r1
        gt      r1, r14
        add     r0, r1
        mov     r1, r14
        return

steps:  .byte   0

.align 256
squares:
        .rept   256, n
        .byte   n * n / 256
        .endr

palette:
        .ascii  "  .,-:;=+ox***%%%%%%##########"
        .byte   '@'                     ; after LIMIT steps: the set itself
.assert $ - palette == LIMIT + 1, "one character for every number of steps"
