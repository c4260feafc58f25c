.machine wide8
        lda #5
        .mode m = 2             ; !A402 `m` is never 2
        .mode q = 1             ; !A402 wide8 has no mode `q`
        .mode m                 ; !A402 expected the name of a mode, `=` and its value
        .mode m = later         ; !A205
        lda #0x1234             ; !A303 4660 does not fit in 8 bits
        .mode m = 0, i = 0
        lda #0x1234
        ldx #0x1234
later:  long                    ; !A302 there is no such instruction where `m` is 0
        .mode m = 1
        long
