; collatz.asm: the 3n+1 problem for the numbers from 1 to 30
;
;   lathe run machines/hex8/programs/collatz.asm
;
; The idea: if a number is odd, take three times it plus one; if it is even, half
; of it. Does this always reach 1? Nobody knows. But no machine is better made
; for asking: "is it odd" is the only question hex8's branches understand, so
; `jmpfwdo r3, odd` puts it to the number itself. Try 27, which climbs to 9232
; before it gives in.
;
;   r1       the number we start from
;   r2:r3    where it has got to
;   r4       steps made
;   r5:r6    the highest number on the way
;   r7       a truth value
;   r8:r9    a copy for multiplying

.machine hex8
.include "macros.asm"

LAST    = 30

        loadimm r1, 1
start:  loadimm r2, 0
        mov     r3, r1
        loadimm r4, 0
        loadimm r5, 0
        mov     r6, r1

step:   eqimm   r7, r3, 1               ; is it 1?
        eqimm   r15, r2, 0
        and     r7, r15
        jmpfwdo r7, arrived
        inc     r4
        jmpfwdo r3, odd

        rotrimm r3, r3, 1               ; half: bit 0 is 0, and comes to the top,
        shlimm  r7, r2, 7               ; where the high byte's last bit belongs
        or      r3, r7
        shrimm  r2, r2, 1
        jmp     step

odd:    mov     r8, r2                  ; n + n + n + 1
        mov     r9, r3
        add16   r2, r3, r8, r9
        add16   r2, r3, r8, r9
        inc16   r2, r3
        mov     r7, r2                  ; higher than the highest?
        gt      r7, r5
        jmpfwdo r7, record
        mov     r7, r2
        lt      r7, r5
        jmpo    r7, step
        mov     r7, r3
        gt      r7, r6
        jmpfwdo r7, record
        jmp     step
record: mov     r5, r2
        mov     r6, r3
        jmp     step

arrived:
        mov     r0, r1
        call    put_dec
        call    print
        .asciiz ": "
        mov     r0, r4
        call    put_dec
        call    print
        .asciiz " steps, highest "
        mov     r0, r5
        push    r1
        mov     r1, r6
        call    put_dec16
        pop     r1
        call    newline
        inc     r1
        neqimm  r7, r1, LAST + 1
        jmpo    r7, start
        jmp     $

.include "lib.asm"
