.machine stack8b
; calculator.asm: a pocket calculator that writes its own instructions
;
; It works in the Polish way, first the numbers, then what to do with them: 3 4 + 5 * is
; (3 + 4) × 5. A stack machine has the calculator built in: numbers are pushed on the
; machine's own stack, and most signs are a single instruction. The program looks the sign
; up in a table, finds the opcode there, writes it with `stp` into the program, a few bytes
; ahead of itself, and walks into it.
;
;   + - & | ^       add, subtract, and, or, exclusive or
;   < > =           255 if so, else 0
;   * /             multiply, divide (by 0: as by 1)
;   end of line     prints what is on top, and forgets the rest
;
; Numbers are 0 to 255 and go around: 3 5 - is 254. The program ends at the end of the input.
;
;   lathe run machines/stack8b/programs/calculator.asm
;
; data 0x80  INSIDE: 1 while digits of a number are coming in

INSIDE  = 0x80

        .include "lib.asm"

next:   iin 0                   ; c
        dup
        skp some
        htl                     ; 0: no more input
some:   dup
        psh '0'
        sub
        dup
        xA
        ilt                     ; c digit digit?
        unless sign

        swp
        drp                     ; digit
        get INSIDE
        skp going
        x0                      ; a new number begins with 0
        swp
going:  x1
        put INSIDE
        swp                     ; digit number
        dup
        shl 2
        add
        shl 1                   ; number × 10
        add
        jump next

sign:   drp                     ; c
        x0
        put INSIDE
        psh table               ; c p
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

        drp                     ; c: not in the table
        dup
        xA
        ieq
        branch line
        dup
        psh '*'
        ieq
        branch times
        psh '/'
        ieq
        unless next             ; a space, or anything else
        dup
        skp fine
        inc                     ; not by 0
fine:   call divide
        drp                     ; the rest
        jump next

times:  drp
        call multiply
        jump next

found:  inc
        ldp                     ; c opcode
        psh here
        stp
        drp
here:   nop                     ; becomes `add`, or `sub`, or …
        jump next

line:   drp
        lds
        unless next             ; nothing on the stack
        call print
        emit '\n'
        x0
        sts                     ; forget the rest
        jump next

table:  .byte '+', 0x20, '-', 0x22, '&', 0x32, '|', 0x31
        .byte '^', 0x33, '<', 0x26, '>', 0x27, '=', 0x28
.end:
        divide_here
        multiply_here
        print_here
