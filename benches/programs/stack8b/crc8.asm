; A CRC of the first half of the data memory; crc and counter are on the stack, the pointer is at data 0.
.machine stack8b

        xFF
byte:   x0
        lda
        lda
        xor
        x8
bit:    swp
        dup
        shl 1
        swp
        shr 7
        nez
        x7
        and
        xor
        swp
        dec
        dup
        x0
        ieq
        skp after
        psh bit
        sti
after:  drp
        x0
        lda
        inc
        x7F
        and
        x0
        sta
        psh byte
        sti
