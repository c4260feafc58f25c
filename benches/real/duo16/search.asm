.machine duo16
; search.asm: finds the best moves in noughts and crosses, as chess programs do
;
;   lathe run benches/real/duo16/search.asm -D ROUNDS=10
;
; One side has taken a field, a different one in each round. The search tries all
; moves, all answers, and so on to the end of the game, and leaves a branch as soon
; as it cannot be better than what is known (alpha and beta). The value of the game
; and the number of positions go into the checksum.
;
;   r6   who is to move, 1 or 2     r9    the checksum
;   r7   positions                  r10   rounds left
;   r8   1, to count with

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

CONSOLE = 0xFFE0

start:  ldi   r10, ROUNDS
        ldi   r8, 1
        mov   r9, r0
round:  load  r1, r0, first
        ldi   r2, 9
        div   r3, r1, r1, r2    ; r1 = the field that is taken
        ldi   r5l, 1
        store r1, board, r5l
        push  r1
        ldi   r6, 2
        mov   r7, r0
        ldi   r1, -100
        ldi   r2, 100
        call  search
        mov   r5, r1
        call  mix
        mov   r5, r7
        call  mix
        pop   r1
        store r1, board, r0b
        load  r1, r0, first
        add   r1, r1, r8
        store r0, first, r1
        sub   r10, r10, r8
        jnz   round
        call  put_hex
        halt
first:  .word 0

; search: r1 = the value of the position for who is to move, from alpha in r1 to beta
; in r2. The frame on the stack: rl, the field, alpha, beta.

search: add   r7, r7, r8
        push  rl
        push  r2                ; beta at rs + 4
        push  r1                ; alpha at rs + 2
        push  r0                ; the field at rs
        ldi   r5, 3
        sub   r6, r5, r6
        call  has_won
        sub   r6, r5, r6        ; r5 is still 3
        tst   r4
        jez   .moves
        ldi   r1, -10
        jmp   .leave
.moves: mov   r3, r0            ; the field
        mov   r4, r0            ; free ones so far
.next:  load  r5l, r3, board
        cmp   r5l, r0b
        jnz   .taken
        store rs, 0, r3
        push  r4
        store r3, board, r6b
        load  r5, rs, 4         ; alpha
        load  r1, rs, 6         ; beta
        sub   r1, r0, r1
        sub   r2, r0, r5
        ldi   r5, 3
        sub   r6, r5, r6
        call  search
        ldi   r5, 3
        sub   r6, r5, r6
        sub   r1, r0, r1
        pop   r4
        add   r4, r4, r8
        load  r3, rs, 0
        store r3, board, r0b
        load  r5, rs, 2
        cmp   r1, r5
        jle   .taken
        store rs, 2, r1         ; it is better: alpha
        load  r5, rs, 4
        cmp   r1, r5
        jge   .leave            ; the other side will not let it come to this
.taken: add   r3, r3, r8
        ldi   r5, 9
        cmp   r3, r5
        jne   .next
        load  r1, rs, 2
        tst   r4
        jnz   .leave
        mov   r1, r0            ; the board is full: drawn
.leave: pop   r0
        pop   r0
        pop   r0
        pop   rl
        ret

; has_won: r4 = 1 if r6 has three in a row, else 0. Leaves 3 in r5.

has_won:
        mov   r3, r0
        mov   r4, r0
        ldi   r5, 3
.row:   load  r4l, r3, rows
        load  r1l, r4, board
        cmp   r1l, r6b
        jne   .other
        load  r4l, r3, rows + 1
        load  r1l, r4, board
        cmp   r1l, r6b
        jne   .other
        load  r4l, r3, rows + 2
        load  r1l, r4, board
        cmp   r1l, r6b
        jne   .other
        ldi   r4, 1
        ret
.other: add   r3, r3, r5
        ldi   r2, 24
        cmp   r3, r2
        jne   .row
        mov   r4, r0
        ret

; mix: turns the checksum by one bit to the left and adds r5.

mix:    add   r9, r9, r9
        jnc   .add
        add   r9, r9, r8
.add:   add   r9, r9, r5
        ret

        .include "lib.asm"

board:  .space 9
rows:   .byte 0, 1, 2,  3, 4, 5,  6, 7, 8
        .byte 0, 3, 6,  1, 4, 7,  2, 5, 8
        .byte 0, 4, 8,  2, 4, 6
