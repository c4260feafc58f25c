.machine duo16
; compress.asm: makes a text shorter and long again
;
;   lathe run benches/real/duo16/compress.asm -D ROUNDS=10
;
; The text is made of random words. Wherever the bytes that follow stood before,
; not more than 255 bytes back, the compressor writes 0x80 + their number and the
; distance instead; anything else it writes as it is. A table leads from two bytes
; to where they were last seen. Then everything is unpacked again, and both the
; short and the long form go into the checksum.
;
;   r9    the checksum      r10   rounds left      r8   1, to count with

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

CONSOLE = 0xFFE0
WORDS   = 128
SIZE    = WORDS * 8

INPUT   = 0x4000                ; the text; a zero byte follows it
PACKED  = 0x4800
UNPACKED = 0x5000
LAST    = 0x5800                ; for every two bytes: where they stood last, 0 if nowhere

start:  ldi   r10, ROUNDS
        ldi   r8, 1
        mov   r9, r0
round:  call  write
        call  compress
        call  unpack
        ldi   r1, PACKED
        call  sum_up
        ldi   r1, UNPACKED
        call  sum_up
        sub   r10, r10, r8
        jnz   round
        call  put_hex
        halt

; write: the text, out of random words of eight bytes.

write:  ldi   r1, INPUT
        load  r2, r0, random
.word:  ldi   r3, 2
        shl   r4, r2, r3
        add   r2, r2, r4
        ldi   r4, 0x3619
        add   r2, r2, r4        ; x = 5x + 0x3619
        ldi   r3, 8
        lsr   r4, r2, r3
        ldi   r3, 7
        and   r4, r4, r3
        ldi   r3, 3
        shl   r4, r4, r3
        ldi   r3, 8
.byte:  load  r5l, r4, words
        store r1, 0, r5l
        add   r1, r1, r8
        add   r4, r4, r8
        sub   r3, r3, r8
        jnz   .byte
        ldi   r5, INPUT + SIZE
        cmp   r1, r5
        jne   .word
        store r1, 0, r0b
        store r0, random, r2
        ret
random: .word 0

; compress: from INPUT to PACKED, which ends with a zero byte.
;
;   r1   where we are in the text     r3   where the same bytes stood
;   r2   the short form               r4   how many are the same

compress:
        ldi   r1, LAST
        ldi   r2, LAST + 512
        ldi   r3, 2
.clear: store r1, 0, r0
        add   r1, r1, r3
        cmp   r1, r2
        jne   .clear
        push  rl
        ldi   r1, INPUT
        ldi   r2, PACKED
.next:  load  r5l, r1, 0
        cmp   r5l, r0b
        jez   .end
        call  lookup
        call  match
        ldi   r5, 3
        cmp   r4, r5
        jb    .single
        ldi   r5l, 0x80
        or    r5l, r5l, r4l
        store r2, 0, r5l
        sub   r3, r1, r3
        store r2, 1, r3l
        add   r1, r1, r4
        ldi   r5, 2
        add   r2, r2, r5
        jmp   .next
.single:
        load  r5l, r1, 0
        store r2, 0, r5l
        add   r1, r1, r8
        add   r2, r2, r8
        jmp   .next
.end:   store r2, 0, r0b
        pop   rl
        ret

; lookup: r3 = where the two bytes at r1 stood last; from now on they stand here.

lookup: load  r4l, r1, 0
        load  r5l, r1, 1
        add   r5l, r5l, r5l
        xor   r4l, r4l, r5l
        mov   r4h, r0b
        add   r4, r4, r4
        load  r3, r4, LAST
        store r4, LAST, r1
        ret

; match: r4 = how many bytes at r3 are the same as those at r1, 127 at most; none if
; that is too far away.

match:  mov   r4, r0
        tst   r3
        jez   .done
        sub   r5, r1, r3
        cmp   r5h, r0b
        jnz   .done
        mov   r6, r1
        mov   r7, r3
.next:  load  r5l, r6, 0
        load  r5h, r7, 0
        cmp   r5l, r0b
        jez   .done
        cmp   r5l, r5h
        jne   .done
        add   r6, r6, r8
        add   r7, r7, r8
        add   r4, r4, r8
        ldi   r5, 127
        cmp   r4, r5
        jne   .next
.done:  ret

; unpack: from PACKED to UNPACKED.
;
;   r1   the short form     r2   the long one

unpack: ldi   r1, PACKED
        ldi   r2, UNPACKED
.next:  load  r3l, r1, 0
        add   r1, r1, r8
        cmp   r3l, r0b
        jez   .end
        jlt   .copy             ; the upper bit is set
        store r2, 0, r3l
        add   r2, r2, r8
        jmp   .next
.copy:  ldi   r5, 0x7F
        and   r3, r3, r5
        mov   r4, r0
        load  r4l, r1, 0
        add   r1, r1, r8
        sub   r4, r2, r4
.byte:  load  r5l, r4, 0
        store r2, 0, r5l
        add   r4, r4, r8
        add   r2, r2, r8
        sub   r3, r3, r8
        jnz   .byte
        jmp   .next
.end:   store r2, 0, r0b
        ret

; sum_up: mixes the bytes at r1 into the checksum, turning it by one bit to the left
; before each.

sum_up: mov   r2, r0
.next:  load  r2l, r1, 0
        cmp   r2l, r0b
        jez   .done
        add   r1, r1, r8
        add   r9, r9, r9
        jnc   .add
        add   r9, r9, r8
.add:   add   r9, r9, r2
        jmp   .next
.done:  ret

        .include "lib.asm"

words:  .ascii "the old "
        .ascii "compress"
        .ascii "ion and "
        .ascii " of the "
        .ascii "or that "
        .ascii "reading,"
        .ascii " paper: "
        .ascii "theories"
