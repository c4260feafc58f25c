; hello.asm: prints a greeting
;
;   lathe run machines/mos6502/programs/hello.asm
;
; The idea: an address has sixteen bits and a register eight. A text in one place
; is read with its address and an index register.
;
;   x   where we are in the text
;
; expect: output "Hello from the 6502!\n"

.machine mos6502

OUT     = $F001                 ; what is written here appears on the terminal

        .org $0400
        .entry main

main:   ldx #0
.next:  lda text,x
        beq done                ; the zero byte at the end
        sta OUT
        inx
        bne .next
done:   jmp done                ; the 6502 has no halt: this is one

text:   .asciiz "Hello from the 6502!\n"
