; octal.asm: numbers that one instruction makes
;
;   lathe run machines/pdp8/programs/octal.asm
;
; The idea: the words of an instruction happen in a fixed order, whatever the order they are written in: clear,
; complement, add one, turn. So one instruction makes many numbers out of nothing.
;
; expect: output "0000 0001 0002 0003 0004 0006 0100 2000 3777 4000 5777 7775 7776 7777 \n"

.machine pdp8

main:   cla
        jms show
        cla iac
        jms show
        cla cll iac ral
        jms show
        cla stl iac ral
        jms show
        cla cll iac rtl
        jms show
        cla stl iac rtl
        jms show
        cla iac bsw
        jms show
        cla stl rtr
        jms show
        cla cll cma rar
        jms show
        cla stl rar
        jms show
        cla cll cma rtr
        jms show
        cla cll cma rtl
        jms show
        cla cll cma ral
        jms show
        cla cma
        jms show
        jms i newline
        hlt

show:   .cell 0
        jms i put_oct
        tad space
        jms i putc
        jmp i show

space:  .cell ' '
        .include "lib.asm"
