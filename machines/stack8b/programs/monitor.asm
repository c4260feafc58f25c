.machine stack8b
; monitor.asm: type machine code, and run it
;
; The first program a computer needs is one that lets you put in the second. This reads pairs
; of hexadecimal digits, writes them with `stp` into program memory from 80 on, and at the
; letter g goes there. Spaces and new lines between digits do not matter. A program comes
; back with 16, `sti`: the way back is on the stack. It ends everything with 02, `htl`; so
; does the end of the input.
;
; Nothing remembers whether a digit is the first or the second of its byte: each one moves
; the byte at its place up by four bits and fills in below. After two digits nothing is left
; of what was there before.
;
;   lathe run machines/stack8b/programs/monitor.asm
;   and type:  01 48 08 00 01 69 08 00 FA 08 00 16 g
;
; on the stack: n, how many digits so far
;
; expect: output
; | Hi
; | ABCDEFGHIJKLMNOPQRSTUVWXYZ
; | 987654321

PLACE   = 0x80

        .include "lib.asm"

again:  x0                      ; n
read:   iin 0                   ; n c
        dup
        skp some
        htl                     ; 0: no more input
some:   dup
        psh 'g'
        ieq
        branch go
        dup
        psh '!'
        ilt
        branch space

        dup                     ; a digit: its low four bits are its value …
        xF
        and
        swp
        shr 6                   ; … and a letter, which has bit 6, is worth 9 more
        dup
        shl 3
        add
        add                     ; n value
        ldo 1
        shr 1
        psh PLACE
        add                     ; n value place: two digits for each
        swp
        ldo 1
        ldp
        shl 4
        oor                     ; n place byte
        swp
        stp
        inc
        jump read

space:  drp
        jump read

go:     drp
        drp
        call PLACE
        jump again

        .assert $ <= PLACE, "the monitor is in its own way"
