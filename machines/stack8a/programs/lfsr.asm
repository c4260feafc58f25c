.machine stack8a
; lfsr.asm: 255 numbers in no apparent order, from one shift and one exclusive-or
;
; A linear-feedback shift register: shift right, and if a 1 fell out, turn over the bits of
; B8. With that constant every number from 1 to 255 comes once before the first comes again,
; and to the eye there is no order in them. The 1 that fell out is made a mask by shifting it
; up to the sign and back down again.
;
; The program counts how long the circle is, and keeps the first 32 numbers. "Keep it if
; there is room" would be a jump; here every number is stored, but those that nobody wants go
; to a cell that nobody looks at. `select` chooses the address.
;
;   lathe run machines/stack8a/programs/lfsr.asm
;
; data 0x00 … 0x1F  the first 32 numbers
; data 0x80         the cell that nobody looks at
; data 0xFF         the length of the circle
;
; expect: data[0x00] = 1, 184, 92, 46, 23, 179, 225, 200, 100, 50, 25, 180, 90, 45, 174, 87, 147, 241, 192, 96, 48, 24, 12, 6, 3, 185
; expect: data[0x1A] = 228, 114, 57, 164, 82, 41
; expect: data[0xFF] = 255
; expect: sp = 255

SEED    = 1
TAPS    = 0xB8                  ; x⁸ + x⁶ + x⁵ + x⁴ + 1
KEEP    = 32
WASTE   = 0x80

        .include "lib.asm"

        x0                      ; count
        psh SEED                ; count number
next:   dup                     ; the value to store …
        ldo 2                   ; … to cell number `count` …
        psh WASTE
        ldo 4
        psh KEEP
        ilt                     ; … while there is room
        select
        sta

        dup
        shr 1
        swp
        shl 7
        sra 7                   ; FF if the number was odd
        psh TAPS
        and
        xor                     ; count number

        ldo 1
        inc
        sto 1
        dup
        psh SEED
        ieq
        unless next             ; until the first comes again
        drp
        htl
