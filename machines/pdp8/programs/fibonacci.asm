; fibonacci.asm: prints the Fibonacci numbers that fit into 12 bits
;
;   lathe run machines/pdp8/programs/fibonacci.asm
;
; The idea: `tad` adds and complements the link when a carry leaves, so after `cll` the link tells whether the sum
; fits. `cla cll` is one instruction.
;
; expect: output "0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597 2584 \n"

.machine pdp8

main:   cla
        dca one
        cla iac
        dca two
next:   tad one
        jms i put_dec
        tad space
        jms i putc
        tad two
        dca three
        cll
        tad one
        tad two
        dca two
        tad three
        dca one
        snl
        jmp next
        tad one
        jms i put_dec           ; the last one that fits
        tad space
        jms i putc
        jms i newline
        hlt

one:    .cell 0
two:    .cell 0
three:  .cell 0
space:  .cell ' '
        .include "lib.asm"
