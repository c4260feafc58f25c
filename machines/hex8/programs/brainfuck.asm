; brainfuck.asm: an interpreter for the language Brainfuck, with a program to run
;
;   lathe run machines/hex8/programs/brainfuck.asm
;
; (hex8 has no input, so there is no interactive program here. Instead, one that
; runs other programs: change the text at `program` and run it again.)
;
; The language has a tape of cells, a head above one of them, and eight commands:
;
;   >  <     move the head right, left
;   +  -     add 1 to the cell, subtract 1
;   .        print the cell                     (, would read one: ignored here)
;   [  ]     repeat what is between while the cell is not 0
;
; Everything else is a comment. The tape is one page, 256 cells, and its head the
; low byte of an address, so the tape is a ring.
;
; The idea: a dispatcher. `commands` holds the characters and, for each, the
; routine; finding one and calling it is a `return` to an address that we have
; pushed ourselves. And a bracket finds its partner by counting: one more for each
; of its own kind that it meets, one less for each of the other kind.
;
;   r2:r3    where we are in the program
;   r4:r5    the head of the tape
;   r0       the command; r1 the cell
;   r6:r7    a place in the table of commands
;   r8       depth of brackets
;   r9, r10  truth values, an address

.machine hex8
.include "macros.asm"

TAPE    = 0x4000

        loadimm r2, hi(program)
        loadimm r3, lo(program)
        loadimm r4, hi(TAPE)

next:   loadind r0, r2, r3
        eqimm   r9, r0, 0
        jmpfwdo r9, end                 ; the program is over
        loadind r1, r4, r5              ; commands find the cell in r1,
        call    execute
        storeind r1, r4, r5             ; and may leave a new one there
        inc16   r2, r3
        jmp     next
end:    jmp     $

; execute: does the command r0.

execute:
        loadimm r6, hi(commands)
        loadimm r7, lo(commands)
.look:  loadind r9, r6, r7
        mov     r10, r9
        eq      r10, r0
        jmpfwdo r10, .found
        addimm  r7, r7, 3               ; the table stays within its page
        neqimm  r9, r9, 0
        jmpbwdo r9, .look
        return                          ; a comment
.found: inc     r7
        loadind r9, r6, r7              ; high byte of the routine
        inc     r7
        loadind r10, r6, r7             ; low byte
        push    r10
        push    r9
        return                          ; goes there; its own return ends execute

right:  storeind r1, r4, r5
        inc     r5
        loadind r1, r4, r5
        return

left:   storeind r1, r4, r5
        dec     r5
        loadind r1, r4, r5
        return

plus:   inc     r1
        return

minus:  dec     r1
        return

write:  output  r1
        return

; open: if the cell is 0, goes forward to the matching ].

open:   neqimm  r9, r1, 0
        jmpfwdo r9, .stay
        loadimm r8, 1
.seek:  inc16   r2, r3
        call    bracket
        neqimm  r9, r8, 0
        jmpbwdo r9, .seek
.stay:  return

; close: if the cell is not 0, goes back to the matching [.

close:  eqimm   r9, r1, 0
        jmpfwdo r9, .stay
        loadimm r8, -1
.seek:  eqimm   r9, r3, 0               ; one back: borrow if the low byte is 0
        sub     r2, r9
        dec     r3
        call    bracket
        neqimm  r9, r8, 0
        jmpbwdo r9, .seek
.stay:  return

; bracket: counts the character at r2:r3 into the depth r8.

bracket:
        loadind r0, r2, r3
        eqimm   r9, r0, '['
        add     r8, r9
        eqimm   r9, r0, ']'
        sub     r8, r9
        return

; The commands: a character and the routine's address, high byte first. The zero
; at the end is no character of any program.

.align 32
commands:
        .byte   '>'
        .be16   right
        .byte   '<'
        .be16   left
        .byte   '+'
        .be16   plus
        .byte   '-'
        .be16   minus
        .byte   '.'
        .be16   write
        .byte   '['
        .be16   open
        .byte   ']'
        .be16   close
        .byte   0
.assert hi(commands) == hi($ - 1), "the table crosses a page"

; The program: twelve rows of a triangle, then a word. Mind the comments: a full
; stop or a hyphen in them would be a command.

program:
        .ascii  "++++++++++++                      cell 0: rows to go"
        .ascii  ">>>>>++++++[>+++++++<-]>          cell 6: a star"
        .ascii  ">++++++++++                       cell 7: the end of a line"
        .ascii  "<<<<<<<"
        .ascii  "["
        .ascii  "  >+                              cell 1: stars in this row"
        .ascii  "  [->+>+<<]>[-<+>]                copied to cell 3"
        .ascii  "  >[->>>.<<<]                     print as many"
        .ascii  "  >>>>.                           end the line"
        .ascii  "  <<<<<<<-"
        .ascii  "]"
        .ascii  ">[-]>>                            cell 3 is free now"
        .ascii  "++++++++[>++++++++++<-]>----.     L"
        .ascii  "-----------.                      A"
        .ascii  "+++++++++++++++++++.              T"
        .ascii  "------------.                     H"
        .ascii  "---.                              E"
        .asciiz ">>>.                              end the line"
