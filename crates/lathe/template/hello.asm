; Prints a text. Run it with `lathe run hello.asm`, test it with `lathe test`.
;
; expect: output "Hello from NAME!\n"
; expect: a = 0
; expect: steps <= 200
.machine NAME

        ldi text
        sta at
again:  ldx at              ; the character that `at` points to
        jz done
        out
        lda at
        inc
        sta at
        jmp again
done:   halt

at:     .byte 0
text:   .asciiz "Hello from NAME!\n"
