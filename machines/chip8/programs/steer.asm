.machine chip8
; steer.asm: leaves a trail where the keys lead, until key 5
;
;   lathe run machines/chip8/programs/steer.asm
;
; The idea: SKP asks whether a key is down at this moment, without waiting. Keys 2, 4,
; 6 and 8 lie around 5 on the pad and lead up, left, right and down. A press is one
; step: before the next one counts, the key must be up again.
;
;   V0, V1   where we are
;   V2       the key that is asked for
;
; keys: 666288884444226224488866665

        .org 0x200

        LD V0, 28
        LD V1, 12
        LD I, block
        DRW V0, V1, 4

look:   LD V2, 2
        SKP V2
        JP .not_up
        ADD V1, -4
        JP step
.not_up:
        LD V2, 8
        SKP V2
        JP .not_down
        ADD V1, 4
        JP step
.not_down:
        LD V2, 4
        SKP V2
        JP .not_left
        ADD V0, -4
        JP step
.not_left:
        LD V2, 6
        SKP V2
        JP .not_right
        ADD V0, 4
        JP step
.not_right:
        LD V2, 5
        SKP V2
        JP look
        JP $

; A block where we are now; crossing the trail takes it away. Then until the key is up.

step:   DRW V0, V1, 4
.held:  SKNP V2
        JP .held
        JP look

block:  db 0b11110000
        db 0b10010000
        db 0b10010000
        db 0b11110000
