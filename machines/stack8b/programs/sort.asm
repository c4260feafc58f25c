.machine stack8b
; sort.asm: reads a line and puts its characters in order
;
; Insertion sort, done while reading: each character walks down from the end of the list,
; and every larger one it meets moves up by one to make room. It need not watch for the
; beginning: cell 0 holds 0, which no character is smaller than, and stops it there.
;
;   lathe run machines/stack8b/programs/sort.asm
;
; data 0x00         0, at which every walk ends
; data 0x01 …       the characters in order, at most 200
; on the stack: end, the first free cell; c, the character; p, the cell it looks at
;
; input: "sphinx of black quartz\n"
; expect: output "   aabcfhiklnopqrstuxz\n"

        .include "lib.asm"

ROOM    = 200

        x1                      ; end
read:   iin 0                   ; end c
        dup
        xA
        igt                     ; a newline, and 0 at the end of input, end the line
        unless print_all
        ldo 1                   ; end c p: the free cell

walk:   dup
        dec
        lda                     ; end c p below
        ldo 2
        ldo 1
        ilt                     ; is c smaller than the one below?
        unless place
        ldo 1
        sta                     ; then that one moves up into p …
        dec                     ; … and p goes down
        jump walk

place:  drp
        sta                     ; c to p
        inc                     ; end
        dup
        psh ROOM
        ieq
        unless read
        x0                      ; full: as if the line had ended

print_all:
        drp                     ; end
        x1                      ; end p
.next:  ldo 1
        ldo 1
        ieq
        branch .done
        dup
        lda
        out 0
        inc
        jump .next
.done:  emit '\n'
        htl
