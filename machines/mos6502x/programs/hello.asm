; hello.asm: prints a greeting
;
;   lathe run machines/mos6502x/programs/hello.asm
;
; The idea: `lax` loads a and x at once, so the character is printed from a and tested
; by the flags, and x has a copy of it.
;
; expect: output "Hello from all 256 opcodes!\n"

.machine mos6502x

        .org $0400
        .entry main

ptr     = $10

main:   lda #<text
        sta ptr
        lda #>text
        sta ptr + 1
        ldy #0
next:   lax (ptr),y
        beq done
        sta $F001
        iny
        bne next
done:   kil0

text:   .byte "Hello from all 256 opcodes!\n", 0
