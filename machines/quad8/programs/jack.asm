; jack.asm: The House that Jack Built, a rhyme that lives in pages
;
;   lathe run machines/quad8/programs/jack.asm
;
; The idea: every verse of this nursery rhyme is the verse before it with one line
; put in front. So each line has a page of its own, in the order of the longest
; verse, and a verse is a far call into the middle of the row. From there the
; machine simply runs on: memory is 0, 0 is `nop`, and after the last byte of a page
; comes the first of the next. Only the last line returns.
;
;   page 00         the loop over the verses: enters one page earlier each time
;   pages 01, 02    the library
;   pages 10 - 16   the lines, the longest way in first
;   pages 20, 21    the texts: data, seen through `page`
;   page 30         the stack
;
; Peculiar to quad8: `jmpfar` takes the page from c, a register like any other. The
; page of a far call can be computed, and here it is: 16, 15, 14 and so on.
;
;   a        address of a text
;   b        page of the line where a verse begins

.machine quad8
.include "macros.asm"

.macro say text                         ; prints a text from whatever page it is in
        setpage text
        li      a, text
        farcall puts
.endm

        stack_at stack
        li      b, hi(house)            ; the shortest verse first
verse:  push    b
        say     this_is
        pop     b                       ; puts has changed b
        push    b

        li      d, hi(back)             ; a far call, made by hand: both halves of
        push    d                       ; the way back go on the stack, since the
        li      d, back                 ; lines cannot know whether they were called
        push    d                       ; or run into
        mov     c, b
        clr     d                       ; to the start of page b
        jmpfar  d

back:   farcall newline
        pop     b
        dec     b                       ; one page earlier is one line more
        li      d, hi(maiden) - 1
        sub     d, b
        li      c, verse
        skipz   d
        jmp     c
        halt

.include "lib.asm"

; One page per line. What follows each `say` is zeros up to the end of the page:
; instructions that do nothing, all the way to the next line.

.org 0x1000
maiden: say     maiden_text
.org 0x1100
        say     cow_text
.org 0x1200
        say     dog_text
.org 0x1300
        say     cat_text
.org 0x1400
        say     rat_text
.org 0x1500
        say     malt_text
.org 0x1600
house:  say     house_text
        farret                          ; the way back was pushed in page 00

.org 0x2000
this_is:
        .asciiz "This is "
house_text:
        .asciiz "the house that Jack built.\n"
malt_text:
        .asciiz "the malt that lay in\n"
rat_text:
        .asciiz "the rat that ate\n"
cat_text:
        .asciiz "the cat that killed\n"
dog_text:
        .asciiz "the dog that worried\n"
.org 0x2100
cow_text:
        .asciiz "the cow with the crumpled horn that tossed\n"
maiden_text:
        .asciiz "the maiden all forlorn that milked\n"

stack   = 0x3000
