; hello.asm: prints a greeting
;
;   lathe run machines/hex8/programs/hello.asm
;
; The idea: an address has sixteen bits and a register eight, so a pointer is a
; pair of registers. `loadind` takes the pair, high byte first. There are no
; flags: a comparison leaves 1 or 0 in a register, and a branch asks whether a
; register is odd.
;
;   r0       the character
;   r1       1 if it is the zero byte at the end of the text
;   r2:r3    where we are in the text
;
; expect: output "Hello from hex8, where only the odd ones jump!\n"

.machine hex8

        loadimm r2, hi(text)
        loadimm r3, lo(text)

next:   loadind r0, r2, r3
        eqimm   r1, r0, 0
        jmpfwdo r1, end                 ; 1 is odd: we are done
        output  r0
        inc     r3                      ; the text does not cross a page, so
        jmp     next                    ; the low byte alone is stepped

end:    jmp     $                       ; hex8 has no halt: a jump to itself is one

text:   .asciiz "Hello from hex8, where only the odd ones jump!\n"

.assert hi(text) == hi($ - 1), "the text crosses a page"
