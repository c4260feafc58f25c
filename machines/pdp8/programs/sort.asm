; sort.asm: sorts eight numbers
;
;   lathe run machines/pdp8/programs/sort.asm
;
; The idea: insertion of the smallest that is left. Comparing is subtracting: `cia` negates, and after `cll` the link
; says which was larger.
;
; expect: output "3 7 19 64 100 512 1000 4095 \n"

.machine pdp8

main:   tad first
        dca here
outer:  tad here
        dca there
inner:  isz there
        tad there
        tad end
        sna cla
        jmp print               ; nothing is left to compare with
        tad i there
        cll cia
        tad i here              ; here - there: the link is set unless here is smaller
        snl cla
        jmp inner
        tad i here
        dca spare
        tad i there
        dca i here
        tad spare
        dca i there
        jmp inner
print:  tad i here
        jms i put_dec
        tad space
        jms i putc
        isz here
        tad here
        tad end
        sza cla
        jmp outer
        jms i newline
        hlt

here:   .cell 0
there:  .cell 0
spare:  .cell 0
space:  .cell ' '
first:  .cell list
end:    .cell -(list + 10)
list:   .cell 1000, 7, 1750, 7777, 3, 23, 144, 100
        .include "lib.asm"
