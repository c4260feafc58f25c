.machine duo16
; words.asm: reads a line of words and tells which is first, last and longest
;
; The library's text routines at work. A text is an address, and ends at a zero byte; so a
; line becomes many texts by putting a zero byte in place of each space (one space between
; words, please: two would look like the end). `compare` comes back with flags, so the jump
; after it can be the same as after a `cmp`.
;
;   lathe run machines/duo16/programs/words.asm
;
; r6  address of this word       r7  first in the alphabet    r8  last in the alphabet
; r9  the longest                r10 its length
;
; input: "seven quick brown foxes jumped over an extraordinarily lazy dog\n"
; expect: output
; | Some words, please:
; | First comes "an", last comes "seven", and the longest is "extraordinarily".

        .include "lib.asm"

main:   ldi   r1, ask
        call  puts
        ldi   r1, line
        ldi   r2, line.end - line
        call  read_line
        cmp   r1, r0
        jle   end               ; nothing to tell
        call  cut
        ldi   r6, line
        mov   r7, r6
        mov   r8, r6
        mov   r9, r6
        mov   r10, r0

word:   load  r1l, r6, 0
        cmp   r1l, r0b
        jez   tell              ; an empty word is the end
        mov   r1, r6
        mov   r2, r7
        call  compare
        jae   later
        mov   r7, r6            ; before all others
later:  mov   r1, r6
        mov   r2, r8
        call  compare
        jbe   sooner
        mov   r8, r6            ; after all others
sooner: mov   r1, r6
        call  length
        cmp   r1, r10
        jbe   shorter
        mov   r10, r1
        mov   r9, r6
shorter:
        add   r6, r6, r1        ; over the word …
        addi  r6, 1             ; … and its zero byte
        jmp   word

tell:   ldi   r1, sentence      ; put the sentence together, piece by piece: `copy` leaves
        ldi   r2, first         ; r1 where the next piece goes
        call  copy
        mov   r2, r7
        call  copy
        ldi   r2, last
        call  copy
        mov   r2, r8
        call  copy
        ldi   r2, longest
        call  copy
        mov   r2, r9
        call  copy
        ldi   r2, stop
        call  copy
        ldi   r1, sentence
        call  puts
end:    halt

; cut: puts a zero byte in place of each space of the line.
cut:    ldi   r1, line
        ldi   r3, 1
.next:  load  r2l, r1, 0
        cmp   r2l, r0b
        jez   .done
        cmpb  r2l, ' '
        jne   .letter
        store r1, 0, r0b
.letter:
        add   r1, r1, r3
        jmp   .next
.done:  store r1, 1, r0b        ; an empty word after the last
        ret

ask:    .asciiz "Some words, please:\n"
first:  .asciiz "First comes \""
last:   .asciiz "\", last comes \""
longest:
        .asciiz "\", and the longest is \""
stop:   .asciiz "\".\n"

line:   .space 100
.end:   .byte 0                 ; room for the empty word after a full line

sentence:
        .space 400              ; three words of a line, at the very most
