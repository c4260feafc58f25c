.machine chip8
; ball.asm: a ball that bounces off the edges, for 200 steps
;
;   lathe run machines/chip8/programs/ball.asm
;
; The idea: draw the ball, wait, draw it again, which takes it away, and move it
; on. At an edge its direction is negated, and it beeps. The delay timer keeps the
; pace: three ticks a step, twenty steps a second.
;
;   V0, V1   where the ball is
;   V2, V3   how it moves: 1 or -1
;   V4       steps that are left
;   V5       for the timers
;
; expect: v0 = 24
; expect: v1 = 25
; expect: v4 = 0

        .org 0x200

        LD V0, 20
        LD V1, 7
        LD V2, 1
        LD V3, 1
        LD V4, 200
        LD I, ball
        DRW V0, V1, 3

step:   LD V5, 3
        LD DT, V5
.wait:  LD V5, DT
        SE V5, 0
        JP .wait

        DRW V0, V1, 3           ; away
        ADD V0, V2
        ADD V1, V3
        SNE V0, 0
        CALL turn_x
        SNE V0, 61
        CALL turn_x
        SNE V1, 0
        CALL turn_y
        SNE V1, 29
        CALL turn_y
        DRW V0, V1, 3           ; and there again

        ADD V4, -1
        SE V4, 0
        JP step
        JP $

; The direction of one axis is negated: 0 - it.

turn_x: LD V5, 0
        SUBN V2, V5
        JP beep
turn_y: LD V5, 0
        SUBN V3, V5
beep:   LD V5, 2
        LD ST, V5
        RET

ball:   db 0b01000000
        db 0b11100000
        db 0b01000000
