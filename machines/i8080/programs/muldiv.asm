; muldiv.asm: multiplies and divides numbers of 16 bits
;
;   lathe run machines/i8080/programs/muldiv.asm
;
; The idea: `dad h` shifts hl to the left, and the carry is the bit that came out.
; Multiplying adds where that is a 1; dividing subtracts where it can and puts a bit in.
;
; expect: output "1234 * 53 = 65402\n65402 / 17 = 3847 rest 3\n"

.machine i8080

        .org 0x100
        .entry main

main:   lxi sp, 0
        lxi h, first
        call puts
        lxi b, 1234
        lxi d, 53
        call mul
        push h
        call put_dec
        call newline
        lxi h, second
        call puts
        pop h
        lxi d, 17
        call div
        push b
        call put_dec
        lxi h, rest
        call puts
        pop h
        call put_dec
        call newline
        hlt

; mul: hl = bc * de. Changes a, de.

mul:    lxi h, 0
        mvi a, 16
.bit:   dad h
        xchg
        dad h                   ; the next bit of the factor
        xchg
        jnc .none
        dad b
.none:  dcr a
        jnz .bit
        ret

; div: hl = hl / de, bc = hl % de. Changes a.

div:    lxi b, 0
        mvi a, 16
.bit:   push psw
        dad h                   ; a bit goes from hl to bc
        mov a, c
        ral
        mov c, a
        mov a, b
        ral
        mov b, a
        mov a, c                ; bc - de
        sub e
        mov c, a
        mov a, b
        sbb d
        mov b, a
        jnc .fits
        mov a, c                ; it was too much
        add e
        mov c, a
        mov a, b
        adc d
        mov b, a
        jmp .next
.fits:  inx h
.next:  pop psw
        dcr a
        jnz .bit
        ret

first:  .asciiz "1234 * 53 = "
second: .asciiz "65402 / 17 = "
rest:   .asciiz " rest "

        .include "lib.asm"
