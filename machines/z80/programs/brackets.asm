; brackets.asm: tells whether the brackets of each line match
;
;   echo '(a)(b(c))' | lathe run machines/z80/programs/brackets.asm
;
; The idea: c is how many are open. A line is good if it never goes below zero and ends
; there. Port 1 gives the next character; 0 is the end.
;
; input: "(a)(b(c))\n)(\n((\n"
; expect: output "good\nbad\nbad\n"

.machine z80

        .org $100
        .entry main

main:   ld sp, 0
line:   ld bc, 0                ; b: whether something was wrong
next:   in a, (1)
        or a
        jr z, done
        cp '\n'
        jr z, tell
        cp '('
        jr z, open
        cp ')'
        jr nz, next
        dec c
        jp p, next
        inc b
        jr next
open:   inc c
        jr next

tell:   ld a, b
        or c
        ld hl, good
        jr z, .write
        ld hl, bad
.write: call puts
        jr line
done:   halt

good:   .asciiz "good\n"
bad:    .asciiz "bad\n"

        .include "lib.asm"
