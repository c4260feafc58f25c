.machine stack8b
; hello.asm: says hello
;
; The text lies in program memory, behind the program, and `ldp` reads it from there: an
; address goes in, a byte comes out. `out 0` sends it to port 0, the console. `skp` is the
; machine's only decision: it takes a value, and if that is not 0 it passes over the next
; few bytes, here over the `htl`. At the zero byte behind the text, the machine stops there.
;
;   lathe run machines/stack8b/programs/hello.asm
;
; on the stack: the address of the next character
;
; expect: output "Hello, world!\n"

        psh text
next:   dup
        ldp                     ; address character
        dup
        skp more
        htl                     ; 0: the end
more:   out 0
        inc
        psh next
        sti                     ; go on there

text:   .asciiz "Hello, world!\n"
