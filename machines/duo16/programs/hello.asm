.machine duo16
; hello.asm: says hello
;
; The console is a cell of memory: whatever is stored at 0xFFE0 appears on the screen. So
; there is no print instruction, only a loop that walks along a text and copies it, byte by
; byte, into that one cell.
;
;   lathe run machines/duo16/programs/hello.asm
;
; r1  address of the next character
; r2l the character: the low half of r2, used as a byte on its own
; r3  1, to add; no arithmetic on this machine takes a constant
;
; expect: output "Hello, world!\n"

CONSOLE = 0xFFE0

        ldi   r1, text
        ldi   r3, 1
next:   load  r2l, r1, 0        ; the byte at r1 + 0
        cmp   r2l, r0b          ; r0b is always 0; `cmp` is a `sub` that keeps only flags
        jez   done
        store r0, CONSOLE, r2l  ; r0 is 0 too, so this is the address CONSOLE
        add   r1, r1, r3
        jmp   next
done:   halt                    ; a trap like any other, but nobody handles it: it stops

text:   .asciiz "Hello, world!\n"
