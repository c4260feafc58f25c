; hello.asm: prints a greeting
;
;   lathe run machines/gameboy/programs/hello.asm
;
; The idea: a byte that is written to rSB goes out over the link cable as soon
; as bit 7 of rSC is set. The program lies in the cartridge: an address from 0
; to 7FFF is a byte of its banks 0 and 1.
;
; expect: output "Hello from a cartridge!\n"

.machine gameboy

        .org $150
        .entry main

main:   ld hl, text
        call puts
        stop

text:   .asciiz "Hello from a cartridge!\n"

        .include "lib.asm"
