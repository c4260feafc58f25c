.machine stack8b
; bf.asm: an interpreter for the smallest programming language
;
; The language has eight signs. There is a tape of cells and a head on one of them:
;   > <   head to the right, to the left       + -   cell one up, one down
;   . ,   cell to output, input to cell        [ ]   repeat what is between while it is not 0
;
; The first line of input is the program, of at most 159 signs; what follows is what it can
; read. Each sign is looked up in a table that holds the address of what to do. Only the
; brackets need thought: at [ with a 0 under the head go forward to its ], at ] with anything
; else go back to its [. Both are one routine that walks in one direction and counts: [ is 1,
; ] is -1, and where the sum is 0 again it has arrived.
;
;   lathe run machines/stack8b/programs/bf.asm
;
; data 0x00 … 0x9F  the program     data 0xA0 … 0xEF  the tape
; on the stack: head, then ip, the address of the sign being done
;
; expect: output
; | Hello World!
; | Goodbye!

TAPE    = 0xA0

        .include "lib.asm"

        psh TAPE                ; head
        x0                      ; head ip
load:   iin 0                   ; the program, up to the end of the line
        dup
        xA
        igt
        unless loaded
        ldo 1
        sta
        inc
        dup
        psh TAPE - 1
        ieq
        unless load
        x0                      ; full: one cell is left as the 0 at the end
loaded: drp
        drp
        x0
        dec                     ; head ip, which is -1

next:   inc
        dup
        lda                     ; head ip sign
        dup
        skp some
        htl                     ; 0: the end of the program
some:   psh table               ; head ip sign p
find:   ldo 1
        ldo 1
        ldp
        ieq
        branch found
        inc
        inc
        dup
        psh table.end
        ieq
        unless find
        drp                     ; not a sign: a remark
        drp
        jump next
found:  swp
        drp
        inc
        ldp                     ; head ip address
        sti

right:  swp
        inc
        swp
        jump next
left:   swp
        dec
        swp
        jump next

more:   ldo 1
        lda
        inc
        jump store
less:   ldo 1
        lda
        dec
        jump store
input:  iin 0
store:  ldo 2                   ; head ip value head
        sta
        jump next

output: ldo 1
        lda
        out 0
        jump next

begin:  ldo 1
        lda
        skp .inside             ; not 0: go on inside
        x1
        psh walk
        sti
.inside:
        jump next

finish: ldo 1
        lda
        nez
        not
        branch next             ; 0: go on behind
        x0
        dec                     ; back

; head ip step: to the bracket that belongs to the one at ip, by steps of 1 or -1.
walk:   x0                      ; head ip step depth
.on:    ldo 2
        lda                     ; the sign here: [ is 5B, ] is 5D
        dup
        psh '['
        ieq                     ; FF for [
        swp
        psh ']'
        ieq
        neg                     ; 1 for ]
        oor
        neg                     ; 1 for [, -1 for ], 0 for all others
        add                     ; depth
        dup
        unless .there
        ldo 2
        ldo 2
        add
        sto 2                   ; ip + step
        jump .on
.there: drp
        drp
        jump next

table:  .byte '>', right, '<', left, '+', more, '-', less
        .byte '.', output, ',', input, '[', begin, ']', finish
.end:
