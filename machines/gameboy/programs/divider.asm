; divider.asm: how many cycles a loop takes
;
;   lathe run machines/gameboy/programs/divider.asm
;
; The idea: the divider counts every 64 cycles. A loop of 17 cycles that is done
; 160 times takes 2720 of them, which is 42 times 64 and 32. The last jump, which
; is not taken, is one cycle shorter, and the divider begins three cycles before
; the loop, when it is written, whatever is written.
;
;   b    rounds
;
; expect: output "(\n"

.machine gameboy

        .org $150
        .entry main

main:   ld b, 160
        ldh [rDIV], a
.round: ld hl, $C000            ; 3
        inc [hl]                ; 3
        push bc                 ; 4
        pop bc                  ; 3
        dec b                   ; 1
        jr nz, .round           ; 3 if it is taken: 17 in all
        ldh a, [rDIV]           ; 42
        sub 2
        call putc               ; 40 is a bracket
        ld a, '\n'
        call putc
        stop

        .include "lib.asm"
