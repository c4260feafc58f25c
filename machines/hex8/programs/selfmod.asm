; selfmod.asm: three programs that write themselves
;
;   lathe run machines/hex8/programs/selfmod.asm
;
; The idea: code is bytes in memory, and memory can be written. What an operand
; says, what an operation does, even what the code is, may be decided while the
; program runs. Three tricks, from harmless to bold:
;
;   walk       an address inside an instruction serves as the pointer
;   sixteen    one instruction performs all sixteen operations of hex8 in turn
;   compile    a text is turned into a routine, which is then called
;
;   r0       what is being printed or written
;   r1, r2   the operands in `sixteen`; pointers elsewhere
;   r3       the result, a byte that is changed
;   r4       a truth value

.machine hex8
.include "macros.asm"

ROUTINE = 0x2000                        ; where `compile` puts its code

        call    walk
        call    sixteen
        call    newline
        call    compile
        call    ROUTINE                 ; was not there when we started
        call    ROUTINE
        jmp     $

; walk: prints a text without a pointer. `loadmem` is three bytes, 20 hh ll, and
; the last two are the address: step them, and it loads the next character.

walk:   loadmem r0, greeting
        eqimm   r4, r0, 0
        jmpfwdo r4, .done
        output  r0
        loadmem r2, walk + 1            ; the address, out of the instruction,
        loadmem r3, walk + 2
        inc16   r2, r3                  ; one further,
        storemem r2, walk + 1           ; and back into it
        storemem r3, walk + 2
        jmp     walk
.done:  return

greeting:
        .asciiz "This text was read by one changing instruction.\n\n"

; sixteen: an operation with an immediate is E, then a digit that names the
; operation. Start with E0, which is `and`; add one to that byte each time; when
; it would become F0, all sixteen have been seen. The names are in the same order,
; four letters each, and walked over in the way of `walk`.

LEFT    = 200
RIGHT   = 3

sixteen:
        loadimm r1, LEFT
        mov     r0, r1
        call    put_dec
        loadimm r0, ' '
        output  r0
        loadimm r5, 4                   ; the name of the operation
.name:  loadmem r0, names
        output  r0
        loadmem r3, .name + 2
        inc     r3                      ; the names stay within a page
        storemem r3, .name + 2
        dec     r5
        neqimm  r4, r5, 0
        jmpbwdo r4, .name
        call    print
        .byte   ' ', '0' + RIGHT, " = ", 0

.op:    andimm  r0, r1, RIGHT           ; E0 01 03 ... EF 01 03
        call    put_dec
        call    newline
        loadmem r3, .op
        inc     r3
        storemem r3, .op
        neqimm  r4, r3, 0xF0
        jmpo    r4, sixteen
        return

; compile: for every character of the text, write the two instructions that print
; it, and `return` at the end: the smallest compiler there is.
;
;   r1:r2    where the text is read
;   r5:r6    where the code is written

compile:
        loadimm r1, hi(source)
        loadimm r2, lo(source)
        loadimm r5, hi(ROUTINE)
        loadimm r6, lo(ROUTINE)
.next:  loadind r3, r1, r2
        inc16   r1, r2
        eqimm   r4, r3, 0
        jmpfwdo r4, .end
        loadimm r0, 0x10                ; 10 vv: loadimm r0, vv
        call    emit
        mov     r0, r3
        call    emit
        loadimm r0, 0x00                ; 00: output r0
        call    emit
        jmp     .next
.end:   loadimm r0, 0x70                ; 70: return

emit:   storeind r0, r5, r6             ; compile runs on into it for the last byte
        inc16   r5, r6
        return

source: .asciiz "I was compiled a moment ago.\n"

.include "lib.asm"

.align 64
names:  .ascii  "and or  xor shl shr rotlrotradd "
        .ascii  "sub mul div mod gt  lt  eq  neq "

.assert hi(names) == hi($ - 1), "the names cross a page"
