; ticks.asm: the timer interrupts nine times
;
;   lathe run machines/gameboy/programs/ticks.asm
;
; The idea: the timer counts every 16 cycles and begins again at 156, so it runs
; over after 100 of them, and asks for interrupt 2, whose routine is at 50. In
; between the processor sleeps.
;
;   c    how often it came
;
; expect: output "123456789\n"

.machine gameboy

        .org $50
        inc c
        reti

        .org $150
        .entry main

main:   ld a, 256 - 100
        ldh [rTMA], a
        ldh [rTIMA], a
        ld a, %110
        ldh [rTAC], a
        ld a, %100
        ldh [rIE], a
        ld c, 0
        ei
.next:  halt
        ld a, c
        add a, '0'
        call putc
        cp '9'
        jr nz, .next
        ld a, '\n'
        call putc
        stop

        .include "lib.asm"
