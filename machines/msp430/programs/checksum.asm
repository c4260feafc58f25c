; checksum.asm: the CRC of a text
;
;   lathe run machines/msp430/programs/checksum.asm
;
; The idea: CRC-16 as modems have it. A byte enters at the left, and whenever a one leaves there, the polynomial is
; added without carries. Its value for "123456789" is well known: 0x31C3. What to do with it stands in a table of
; routines, which are called through memory.
;
; expect: output "12739\n"

.machine msp430

main:   mov #0x0A00, sp
        mov #routines, r9
next:   call @r9+
        cmp #end, r9
        jne next
        halt

crc:    mov #text, r4
        clr r12
.byte:  mov.b @r4+, r5
        tst r5
        jz .done
        swpb r5
        xor r5, r12
        mov #8, r6
.bit:   add r12, r12
        jnc .none
        xor #0x1021, r12
.none:  dec r6
        jnz .bit
        jmp .byte
.done:  ret

        .align 2
routines:
        .word crc, put_dec, newline
end:
        .include "lib.asm"
text:   .asciiz "123456789"
