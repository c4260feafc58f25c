; octal.asm: prints numbers and where they are, in octal
;
;   lathe run machines/pdp11/programs/octal.asm
;
; The idea: a table of pointers is walked with `@(r1)+`, which reads through each of them.
; Where a program is, it knows from `pc`: the code works wherever it is loaded.
;
; expect: output "000001\n177777\n052525\n100000\n001014\n"

.machine pdp11

main:   mov pc, r3              ; the address of the next instruction
        mov #main, sp
        mov #table, r1
        br next
here:   mov @(r1)+, r0
        call put_oct
        call newline
next:   cmp r1, #end
        blo here
        add #here-main-2, r3
        mov r3, r0
        call put_oct
        call newline
        halt

table:  .le16 first, second, third, fourth
end:
first:  .le16 1
second: .le16 -1
third:  .le16 0x5555
fourth: .le16 0x8000

        .include "lib.asm"
