.machine stack8b
; sierpinski.asm: a triangle of triangles of triangles
;
; A star stands at column x of row y if x and y have no 1 in the same place. Nothing else
; makes the pattern: the holes are the places where an addition of x and y would carry. The
; character is chosen without a jump: '*' and ' ' differ in the bits of 0A, and those bits
; are turned over, or not.
;
;   lathe run machines/stack8b/programs/sierpinski.asm
;
; on the stack: y, counted down to 0; x, counted up

SIZE    = 32                    ; any power of two up to 128

        .include "lib.asm"

        psh SIZE                ; y + 1
row:    dec                     ; y
        x0                      ; y x
column: ldo 1
        ldo 1
        and
        nez                     ; FF: a hole
        psh '*' ^ ' '
        and
        psh '*'
        xor
        out 0
        inc
        ldo 1
        ldo 1
        add
        psh SIZE
        ieq                     ; row y has SIZE - y places: behind them are holes only
        unless column
        drp
        emit '\n'
        dup
        nez
        branch row
        htl
