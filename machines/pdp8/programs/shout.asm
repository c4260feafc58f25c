; shout.asm: reads a line and prints it in capitals
;
;   lathe run machines/pdp8/programs/shout.asm
;
; The idea: `ksf` skips when a character has come, and `krb` takes it. The terminal sends the eighth bit as a one.
;
; input: "Hello, PDP-8!\n"
; expect: output "HELLO, PDP-8!\n"

.machine pdp8

main:   ksf
        jmp main
        krb
        and seven_bits
        dca char
        tad char
        tad minus_a
        spa
        jmp print               ; before `a`
        tad minus_26
        sma cla
        jmp print               ; after `z`
        tad char
        tad capital
        dca char
print:  cla
        tad char
        jms i putc
        tad char
        tad minus_newline
        sza cla
        jmp main
        hlt

char:   .cell 0
seven_bits: .cell 177
minus_a: .cell -141
minus_26: .cell -32
capital: .cell -40
minus_newline: .cell -'\n'
        .include "lib.asm"
