; frames.asm: how many lines a frame has, and how many cycles
;
;   lathe run machines/gameboy/programs/frames.asm
;
; The idea: at line 144 the screen asks for interrupt 0. Between two of them
; 17,556 cycles pass: 154 lines of 114. The timer counts every 256 of them, and
; 60 frames are 1,053,360 cycles: 4114 and a rest. The low byte of that is 18.
;
;   b    frames
;
; expect: output "frames: 60 of 154 lines\n"
; expect: a = 18

.machine gameboy

        .org $150
        .entry main

main:   ld a, 1
        call wait
        ldh [rDIV], a           ; the timer counts with the divider, so it begins here, too
        xor a
        ldh [rTIMA], a
        ld a, %100
        ldh [rTAC], a
        ld b, 60
.frame: ld a, 1
        call wait
        dec b
        jr nz, .frame
        ldh a, [rTIMA]
        push af
        ld c, 0                 ; the highest line
.line:  ldh a, [rLY]
        cp c
        jr c, .last             ; it has begun again
        ld c, a
        jr .line
.last:  ld a, c
        sub 153 - '4'
        ld [$C000], a
        ld hl, text
        call puts
        ld a, [$C000]
        call putc
        ld hl, rest
        call puts
        pop af
        stop

text:   .asciiz "frames: 60 of 15"
rest:   .asciiz " lines\n"

        .include "lib.asm"
