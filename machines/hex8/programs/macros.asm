; macros.asm: 16-bit arithmetic in pairs of registers, for hex8
;
; A macro must be known before its first use, so include this at the top of a
; program; lib.asm, which comes at the end, uses it too. Each macro stands for
; the instructions between `.macro` and `.endm`, and each uses r15 as scratch.
;
;   add16 hi, lo, hi2, lo2      hi:lo += hi2:lo2
;   sub16 hi, lo, hi2, lo2      hi:lo -= hi2:lo2
;   inc16 hi, lo                hi:lo += 1

MACROS  = 1                             ; lib.asm asks whether this is defined

; hi:lo += hi2:lo2. There is no carry flag, and none is needed: the sum of two
; bytes has overflowed exactly when it is smaller than either of them.

.macro add16 hi, lo, hi2, lo2
        add     lo, lo2
        mov     r15, lo
        lt      r15, lo2                ; 1 if a carry is due
        add     hi, hi2
        add     hi, r15
.endm

; hi:lo -= hi2:lo2. A byte must borrow when the number taken from it is larger.

.macro sub16 hi, lo, hi2, lo2
        mov     r15, lo
        lt      r15, lo2                ; 1 if a borrow is due
        sub     lo, lo2
        sub     hi, hi2
        sub     hi, r15
.endm

; hi:lo += 1

.macro inc16 hi, lo
        inc     lo
        eqimm   r15, lo, 0              ; it wrapped: carry
        add     hi, r15
.endm
