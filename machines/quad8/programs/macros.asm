; macros.asm: jumps, calls and pages for quad8
;
; quad8 has no immediate wider than four bits and no branch, so "jump there" is
; always the same few instructions: build the address in a register, perhaps skip,
; go. These macros write them down once. A macro must be known before its first
; use, so include this at the top of a program.
;
; The agreement behind them, which lib.asm keeps too:
;
;   a, b     arguments and results; nobody else's business
;   c        takes the way back of a call
;   d        takes addresses: every macro here may change it
;   page     belongs to the program; the library never changes it
;
; Inside a page (an error if the place is in another one):
;
;   goto where              jump
;   jz   r, where           jump if r is zero
;   jnz  r, where           ... is not zero
;   jl   r, where           ... is negative (bit 7 is 1)
;   jge  r, where           ... is not
;   call where              call; the way back arrives in c
;   ret                     return through c
;
; Anywhere:
;
;   farcall where           call a routine in any page, from any page
;   farret                  return from it: it must have begun with `push c`
;   setpage where           page = the page of this address
;   stack_at where          stackpage = the page of this address
;   get r, where            r = the byte there, if `page` is already right
;   put r, where            the byte there = r, likewise

MACROS  = 1                             ; lib.asm asks whether this is defined

.macro goto where
        li      d, where
.here:  jmp     d                       ; jmp d is jalr d, [d]
        .assert hi(where) == hi(.here), "this jump leaves its page"
.endm

; A skip passes over one byte, and the jump is one byte: a branch.

.macro jz r, where
        li      d, where
        skipnz  r
.here:  jmp     d
        .assert hi(where) == hi(.here), "this jump leaves its page"
.endm

.macro jnz r, where
        li      d, where
        skipz   r
.here:  jmp     d
        .assert hi(where) == hi(.here), "this jump leaves its page"
.endm

.macro jl r, where
        li      d, where
        skipge  r
.here:  jmp     d
        .assert hi(where) == hi(.here), "this jump leaves its page"
.endm

.macro jge r, where
        li      d, where
        skipl   r
.here:  jmp     d
        .assert hi(where) == hi(.here), "this jump leaves its page"
.endm

.macro call where
        li      d, where
.here:  jalr    c, [d]
        .assert hi(where) == hi(.here), "this call leaves its page"
.endm

.macro ret
        jmp     c
.endm

; `jmpfar` saves only the low byte of the way back, in c. The page is lost, so the
; caller pushes its own page first and the routine pushes c on top of it: then the
; whole way back is on the stack, and calls may nest to any depth.

.macro farcall where
        li      d, hi(.back)
        push    d
        li      c, hi(where)
        li      d, where                ; a label in `li` gives its low byte
        jmpfar  d                       ; to c:d
.back:
.endm

.macro farret
        pop     d
        pop     c
        jmpfar  d
.endm

.macro setpage where
        li      d, hi(where)
        page    d
.endm

.macro stack_at where
        li      d, hi(where)
        stackpage d
.endm

.macro get r, where
        li      d, where
        load    r, [d]
.endm

.macro put r, where
        li      d, where
        store   r, [d]
.endm
