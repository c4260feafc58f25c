.machine duo16
; mandelbrot.asm: the Mandelbrot set
;
; For each point c of the plane, start at z = 0 and repeat z = z² + c. Count how long it
; takes until z is further than 2 from the origin; if it never is, c belongs to the set.
;
; The machine has no fractions, so a number is kept 1024 times as large: 1536 is 1.5. Sums
; need no care. A product of two such numbers has the factor twice, and is shifted right by
; ten once: `multiply_signed` gives 32 bits, and the right sixteen of them are cut out. z can
; jump to about 6.4 before it is noticed to be gone, and 6.4² is about 41: too much for a
; signed number (32 is the end), but not for an unsigned one (64), and squares have no sign.
;
;   lathe run machines/duo16/programs/mandelbrot.asm
;
; r6  real part of c        r7  imaginary part of c
; r8  real part of z        r9  imaginary part of z      r10  how many turns so far
; on the stack for a while: a square

ONE     = 1024
LEFT    = -2253                 ; -2.2
TOP     = -1176                 ; -1.15
COLUMNS = 72
ROWS    = 25
ACROSS  = 42                    ; from one column to the next; characters are about twice
DOWN    = 98                    ; as high as wide

        .include "lib.asm"

main:   ldi   r7, TOP
row:    ldi   r6, LEFT
column: call  escape
        load  r1l, r10, palette
        store r0, CONSOLE, r1l
        addi  r6, ACROSS
        cmpi  r6, LEFT + COLUMNS * ACROSS
        jlt   column
        emit  '\n'
        addi  r7, DOWN
        cmpi  r7, TOP + ROWS * DOWN
        jlt   row
        halt

; escape: how many turns the point (r6, r7) takes to leave, in r10, at most TURNS.
escape: enter
        mov   r8, r0
        mov   r9, r0
        mov   r10, r0
.turn:  mov   r1, r8            ; the square of the real part …
        mov   r2, r8
        call  times
        push  r1
        mov   r1, r9            ; … and of the imaginary part
        mov   r2, r9
        call  times
        pop   r2
        add   r3, r1, r2
        cmpi  r3, 4 * ONE       ; the distance squared against 2 squared,
        ja    .done             ; unsigned
        sub   r3, r2, r1
        push  r3                ; the new real part, but for c
        mov   r1, r8
        mov   r2, r9
        call  times
        add   r1, r1, r1
        add   r9, r1, r7        ; imaginary: 2 × real × imaginary + c
        pop   r8
        add   r8, r8, r6        ; real: real² − imaginary² + c
        addi  r10, 1
        cmpi  r10, TURNS
        jb    .turn
.done:  leave

; times: the fixed-point product of r1 and r2, in r1.
times:  enter
        call  multiply_signed
        ldi   r5, 10
        lsr   r1, r1, r5        ; ten bits of fraction fall off the lower half …
        ldi   r5, 6
        shl   r2, r2, r5        ; … and the lowest ten of the upper half move in above
        or    r1, r1, r2
        leave

palette:
        .ascii "   ...,,,:::;;;---===+++***xxx%%%###&&&@"
.end:
TURNS   = palette.end - palette - 1     ; the last character is for the set itself
