.machine stack8a
; sort.asm: bubble sort without a single decision
;
; Look at two neighbours and put the larger one behind; do that along the whole list, and
; the largest is at its end; do it all over once for each number. Usually "put the larger
; one behind" is a jump around a swap. Here it is arithmetic: d has the bits in which the
; two differ if they stand wrong, and no bits if they stand right. Turning the bits of d
; over in both swaps them, or does nothing. The only jumps left are those of the two loops,
; and they always go the same way, whatever the numbers are.
;
;   lathe run machines/stack8a/programs/sort.asm
;
; data 0x00 … 0x0F  the numbers, put there with the program, and sorted at the end
;
; expect: data[0x00] = 0, 1, 2, 8, 19, 24, 45, 66, 75, 75, 80, 90, 127, 128, 170, 255
; expect: sp = 0

COUNT   = 16

        .include "lib.asm"

        psh COUNT - 1           ; passes
pass:   x0                      ; passes i
pair:   dup
        lda
        ldo 1
        inc
        lda                     ; passes i a b, two neighbours
        ldo 1
        ldo 1
        igt                     ; do they stand wrong?
        ldo 2
        ldo 2
        xor
        and                     ; passes i a b d
        swp
        ldo 1
        xor                     ; passes i a d b'
        ldo 3
        inc
        sta                     ; b' to i + 1
        xor                     ; passes i a'
        ldo 1
        sta                     ; a' to i
        inc
        dup
        psh COUNT - 1
        ilt
        branch pair             ; until the last pair
        drp
        dec
        dup
        nez
        branch pass
        drp
        htl

        .data
        .byte 170, 45, 75, 255, 90, 80, 24, 2, 66, 1, 128, 0, 75, 127, 8, 19
