; hello.asm: prints a greeting
;
;   lathe run machines/sm83/programs/hello.asm
;
; The idea: a Game Boy has no terminal, but it has a link cable. A byte that is
; written to rSB goes out over the cable as soon as bit 7 of rSC is set. Whoever
; tests programs for the Game Boy prints like this, and so do all programs here.
;
;   hl   where we are in the text
;   a    the character
;
; expect: output "Hello over the link cable!\n"

.machine sm83

rSB     = $FF01
rSC     = $FF02

        .org $150               ; where the header of a cartridge ends
        .entry main

main:   ld hl, text
.next:  ld a, [hl+]
        or a                    ; the zero byte at the end?
        jr z, .done
        ldh [rSB], a
        ld a, $81
        ldh [rSC], a
        jr .next
.done:  halt                    ; no interrupt will ever come: this is the end

text:   .asciiz "Hello over the link cable!\n"
