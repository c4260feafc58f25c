.machine stack8b
; portrait.asm: the program prints itself, byte by byte
;
; `ldp` reads program memory, and the program is in there: it walks over itself from the
; first byte to the last and prints each in hexadecimal, sixteen on a line. So the listing of
; the assembler can be checked against the machine, by the machine.
;
;   lathe run machines/stack8b/programs/portrait.asm
;
; on the stack: p, the address of the next byte
;
; expect: output
; | F0 19 17 19 DC F9 01 2F 16 FF 32 FF 01 2F 16 24
; | 19 01 3C 28 30 C3 01 2B 16 19 FF 32 C3 01 26 16
; | 01 20 08 00 F1 16 FA 08 00 F1 16 FA 08 00 02 1B
; | 19 F9 27 F7 32 20 01 30 20 08 00 16

        .include "lib.asm"

        x0                      ; p
next:   dup
        ldp
        dup
        shr 4
        call digit              ; the upper half
        xF
        and
        call digit              ; the lower half
        inc
        dup
        psh end
        ieq
        branch last
        dup
        xF
        and
        unless line             ; a multiple of 16
        emit ' '
        jump next
line:   emit '\n'
        jump next
last:   emit '\n'
        htl

; digit ( 0…15 -- ) prints it. From 9 to A is a step of 8 in the character set, so digits
; above 9 get 7 more: by masking, not by jumping.
digit:  swp                     ; back d
        dup
        x9
        igt
        x7
        and
        add
        psh '0'
        add
        out 0
        return
end:
