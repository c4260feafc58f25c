; lib.asm: a small library for gameboy
;
; Include it at the end of a program. Every routine says which registers it
; changes; the others come back as they were.
;
;   putc        writes the character in a
;   puts        writes the text at hl
;   wait        sleeps until the interrupts in a come, one of them or more

rP1     = $FF00                 ; keys
rSB     = $FF01                 ; the byte to send
rSC     = $FF02                 ; bit 7 sends it
rDIV    = $FF04                 ; counts by itself
rTIMA   = $FF05                 ; counts, and asks for an interrupt
rTMA    = $FF06                 ; what it begins with again
rTAC    = $FF07                 ; bit 2: it runs; bits 1 and 0: how fast
rIF     = $FF0F                 ; interrupts that are asked for
rLCDC   = $FF40                 ; the screen
rSTAT   = $FF41                 ; what it is doing
rSCY    = $FF42                 ; how far the picture is moved up
rSCX    = $FF43                 ; how far it is moved to the left
rLY     = $FF44                 ; the line that is being drawn
rLYC    = $FF45                 ; the line that asks for an interrupt
rBGP    = $FF47                 ; the shades
rIE     = $FFFF                 ; interrupts that are let through

; putc: writes the character in a. Changes nothing.

putc:   push af
        ldh [rSB], a
        ld a, $81
        ldh [rSC], a
        pop af
        ret

; puts: writes the text at hl, up to its zero byte. Changes a, hl.

puts:   ld a, [hl+]
        or a
        ret z
        call putc
        jr puts

; wait: sleeps until one of the interrupts in a is asked for. Their routines are
; not called, because interrupts are off. Changes a.

wait:   ldh [rIE], a
        xor a
        ldh [rIF], a
        halt
        nop
        ret
