.machine chip8
; counter.asm: counts from 0 to 137 in decimal
;
;   lathe run machines/chip8/programs/counter.asm
;
; The idea: LD B, V3 takes a number apart into three decimal digits in memory, and
; LD V2, [I] loads them into V0, V1 and V2. Drawing the same digits again takes
; them away. I moves when it stores and loads, so it is set anew each time.
;
;   V0 to V2 the digits
;   V3       the number
;   V4, V5   where a digit goes
;   V6       for the timer
;
; expect: v3 = 137
; expect: ram[0x300] = 1, 3, 7

        .org 0x200

END     = 137

        LD V3, 0
        CALL show
count:  LD V6, 2
        LD DT, V6
.wait:  LD V6, DT
        SE V6, 0
        JP .wait
        CALL show               ; away
        ADD V3, 1
        CALL show
        SE V3, END
        JP count
        JP $

; show: draws V3 in the middle of the screen.

show:   LD I, digits
        LD B, V3
        LD V2, [I]              ; I was not moved by LD B
        LD V4, 25
        LD V5, 13
        LD F, V0
        DRW V4, V5, 5
        ADD V4, 5
        LD F, V1
        DRW V4, V5, 5
        ADD V4, 5
        LD F, V2
        DRW V4, V5, 5
        RET

        .org 0x300
digits: db 0, 0, 0
