; multiply.asm: multiplies, which the machine cannot
;
;   lathe run machines/pdp8/programs/multiply.asm
;
; The idea: twelve times, a bit of one factor leaves at the right and decides whether the other one is added, and the
; sum moves right as well. What leaves it there is the lower half of the product, and enters the first factor at
; its left. `rar` turns the accumulator and the link together.
;
; expect: output "37 * 54 = 1998\n63 * 65 = 4095\n"

.machine pdp8

main:   tad a1
        dca left
        tad b1
        dca right
        jms show
        tad a2
        dca left
        tad b2
        dca right
        jms show
        hlt

show:   .cell 0
        tad left
        jms i put_dec
        tad times
        jms i puts
        tad right
        jms i put_dec
        tad equals
        jms i puts
        jms multiply
        tad left
        jms i put_dec
        jms i newline
        jmp i show

; left times right: the lower half in left, the upper half in high.

multiply: .cell 0
        dca high
        tad minus_12
        dca count
        tad left
        cll rar
        dca left
.next:  snl
        jmp .none
        cll
        tad high
        tad right
        skp
.none:  tad high
        rar                     ; the carry enters, the lowest bit leaves
        dca high
        tad left
        rar
        dca left
        isz count
        jmp .next
        jmp i multiply

left:   .cell 0
right:  .cell 0
high:   .cell 0
count:  .cell 0
minus_12: .cell -14
a1:     .cell 45
b1:     .cell 66
a2:     .cell 77
b2:     .cell 101
times:  .cell by
by:     .asciiz " * "
equals: .cell is
is:     .asciiz " = "
        .include "lib.asm"
