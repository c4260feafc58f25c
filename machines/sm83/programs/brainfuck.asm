; brainfuck.asm: an interpreter for a language with eight instructions
;
;   lathe run machines/sm83/programs/brainfuck.asm
;
; The idea: there is a tape of bytes and a place on it.
;
;   > <   go to the right, to the left      + -   add one, subtract one
;   .     print the byte                    [ ]   repeat while the byte is not 0
;
; (The eighth, `,`, reads a byte. There is nothing to read from here.) Which
; routine does an instruction is found in a table, and `jp hl` goes there. At a
; bracket the program is searched for its partner; inner pairs are counted.
;
;   de   the instruction
;   bc   the place on the tape
;   l    how many pairs are open during a search
;
; expect: output
; | *
; | **
; | ***
; | ****
; | *****
; | ******
; | *******
; | ********
; | OK

.machine sm83

TAPE    = $C000

        .org $150
        .entry main

main:   ld sp, $E000
        ld hl, TAPE
        xor a
.clear: ld [hl+], a
        bit 4, h                ; up to $D000
        jr z, .clear
        ld bc, TAPE
        ld de, program - 1

next:   inc de
        ld hl, table - 2
.look:  inc hl
        inc hl
        ld a, [hl+]
        or a
        jr z, next              ; the end of the table: a comment
        push bc
        ld b, a
        ld a, [de]
        cp b
        pop bc
        jr nz, .look
        ld a, [hl+]
        ld h, [hl]
        ld l, a
        jp hl

right:  inc bc
        jr next

left:   dec bc
        jr next

plus:   ld a, [bc]
        inc a
        ld [bc], a
        jr next

minus:  ld a, [bc]
        dec a
        ld [bc], a
        jr next

write:  ld a, [bc]
        call putc
        jr next

open:   ld a, [bc]
        or a
        jr nz, next             ; go in
        ld l, 1
.skip:  inc de
        ld a, [de]
        cp '['
        jr nz, .other
        inc l
.other: cp ']'
        jr nz, .skip
        dec l
        jr nz, .skip
        jr next

close:  ld a, [bc]
        or a
        jr z, next              ; go out
        ld l, 1
.back:  dec de
        ld a, [de]
        cp ']'
        jr nz, .other
        inc l
.other: cp '['
        jr nz, .back
        dec l
        jr nz, .back
        jr next

end:    halt

; An instruction and its routine. `$` ends the program.

.macro entry letter, routine
        .byte letter
        .word routine
.endm

table:  entry '>', right
        entry '<', left
        entry '+', plus
        entry '-', minus
        entry '.', write
        entry '[', open
        entry ']', close
        entry '$', end
        .byte 0

program:
        .ascii "five cells: rows   length   copy   star   end of line\n"
        .ascii "++++++++                   eight rows\n"
        .ascii ">>++++++[>+++++++<-]       a star is 6 times 7\n"
        .ascii ">>++++++++++<<<<           an end of line is 10\n"
        .ascii "[>+                        each row is longer by one\n"
        .ascii "  [>+>.<<-]                print it while it is copied\n"
        .ascii "  >[<+>-]                  and copy it back\n"
        .ascii "  >>.<<<<-]                end of line\n"
        .ascii "and two letters to end with\n"
        .ascii ">>++++++[>++++++<-]>+.----.>.$"

        .include "lib.asm"
