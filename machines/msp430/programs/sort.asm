; sort.asm: sorts eight numbers
;
;   lathe run machines/msp430/programs/sort.asm
;
; The idea: insertion. A number moves down beside a pointer until the one before it is not larger; `jl` compares with
; signs.
;
; expect: output "-500 -1 0 3 7 100 1000 30000 \n"

.machine msp430

main:   mov #0x0A00, sp
        mov #list + 2, r4
outer:  mov @r4, r6
        mov r4, r5
inner:  cmp #list, r5
        jeq place
        cmp -2(r5), r6
        jge place
        mov -2(r5), 0(r5)
        decd r5
        jmp inner
place:  mov r6, 0(r5)
        incd r4
        cmp #end, r4
        jne outer

        mov #list, r4
print:  mov @r4+, r6
        tst r6
        jge positive
        mov #'-', r12
        call #putc
        inv r6
        inc r6
positive:
        mov r6, r12
        call #put_dec
        mov #' ', r12
        call #putc
        cmp #end, r4
        jne print
        call #newline
        halt

        .align 2
list:   .word 1000, 7, -500, 30000, 3, 0, -1, 100
end:
        .include "lib.asm"
