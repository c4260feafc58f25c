.machine stack8b
; lib.asm: jumps, printing and arithmetic for stack8b
;
; There are 256 bytes for a program, so nothing here takes any until it is used: all of it
; is macros. The first kind is put in wherever it is named. The second kind holds a whole
; subroutine: a program that wants `print` says `call print` as often as it likes, and once,
; behind its `htl`, `print_here`.
;
; Comments such as ( a b -- c ) tell what is on the stack before and after, the top last.
; Cells of data memory are named by their address.

; ── Going elsewhere ──────────────────────────────────────────────────────────────────────
; `skp` passes over up to seven bytes. A jump to anywhere takes three: so skip a jump.

.macro jump target              ; ( -- )
        psh target
        sti
.endm

.macro unless target            ; ( value -- ) goes there if it is 0
        skp .on
        psh target
        sti
.on:
.endm

.macro branch target            ; ( truth -- ) goes there if true, FF; 0 goes on
        not
        skp .on
        psh target
        sti
.on:
.endm

.macro call routine             ; ( -- way back ) leaves the way back on top
        psh .back
        psh routine
        sti
.back:
.endm

.macro return                   ; ( way back -- )
        sti
.endm

; ── Variables and characters ─────────────────────────────────────────────────────────────

.macro get cell                 ; ( -- value )
        psh cell
        lda
.endm

.macro put cell                 ; ( value -- )
        psh cell
        sta
.endm

.macro emit char                ; ( -- ) prints a character
        psh char
        out 0
.endm

; The carry as a truth value: 0 - 0 - carry is FF or 0, and leaves the carry as it was.
.macro carried                  ; ( -- truth )
        x0
        x0
        sbc
.endm

; ── Subroutines ──────────────────────────────────────────────────────────────────────────

; puts ( text -- ) prints the text in program memory, up to its zero byte.
.macro puts_here
puts:   swp                     ; back text
.next:  dup
        ldp
        dup
        unless .done
        out 0
        inc
        jump .next
.done:  drp
        drp
        return
.endm

; print ( number -- ) in decimal. Take off tens, counting, until one is too many; what is
; left is the last digit. The tens, if there are any, are printed before it: by `print`.
.macro print_here
print:  swp                     ; back number
        x0
        dec
        swp                     ; back tens number, with -1 tens
.ten:   swp
        inc
        swp
        xA
        sub
        carried
        unless .ten             ; no borrow: go on
        psh '0' + 10            ; one ten was too many
        add
        swp                     ; back digit tens
        dup
        unless .last
        dup
        call print
.last:  drp
        out 0
        return
.endm

; multiply ( a b -- a × b ), the low 8 bits. For each bit of a, from the lowest: if it is 1,
; add b; then double b. The bit becomes the mask by shifting it up to the sign and back.
.macro multiply_here
multiply:
        x0                      ; a b back product
.bit:   ldo 3
        shl 7
        sra 7                   ; FF if the lowest bit of a is 1, else 00
        ldo 3
        and
        add                     ; product + b, or + 0
        ldo 2
        shl 1
        sto 2                   ; b = b × 2
        ldo 3
        shr 1
        dup
        sto 4                   ; a = a / 2
        nez
        branch .bit             ; until nothing of a is left
        sto 2                   ; product b back
        swp
        drp
        return
.endm

; divide ( n d -- n / d, n mod d ), where d is not 0: takes off d, counting, until it is
; once too often.
.macro divide_here
divide: x0
        dec                     ; n d back quotient, with -1
.turn:  inc
        ldo 3
        ldo 3
        sub
        sto 3                   ; n = n - d
        carried
        unless .turn
        ldo 3
        ldo 3
        add                     ; once back: the rest
        sto 2                   ; n rest back quotient
        sto 2                   ; quotient rest back
        return
.endm
