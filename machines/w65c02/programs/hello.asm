; hello.asm: prints a greeting
;
;   lathe run machines/w65c02/programs/hello.asm
;
; The idea: `lda (ptr)` needs no index register, and `inc a` no carry.
;
; expect: output "Hello from CMOS!\n"

.machine w65c02

        .org $0400
        .entry main

ptr     = $10

main:   lda #<text
        sta ptr
        lda #>text
        sta ptr + 1
next:   lda (ptr)
        beq done
        sta $F001
        inc ptr
        bra next
done:   stp

text:   .byte "Hello from CMOS!\n", 0
