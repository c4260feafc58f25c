; states.asm: a machine with 256 states, every one of them warm
;
;   lathe run benches/real/hex8/states.asm -D ROUNDS=100
;
; Each state has code of its own, which mixes a random byte into the checksum and
; goes on to one of two other states, depending on one bit of that byte. No state
; runs often, so there is nothing that an engine could concentrate on.
;
;   r2:r3    the random number         r8:r9      steps left in this round
;   r4:r5    the checksum              r10:r11    rounds left

.machine hex8

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

STATES  = 256
STEPS   = 2000

.macro add16 hi, lo, hi2, lo2
        add     lo, lo2
        mov     r15, lo
        lt      r15, lo2                ; 1 if a carry is due
        add     hi, hi2
        add     hi, r15
.endm

; hi:lo -= 1, and on to the target if that gives 0
.macro count hi, lo, target
        eqimm   r15, lo, 0
        sub     hi, r15
        dec     lo
        mov     r15, lo
        or      r15, hi
        eqimm   r15, r15, 0
        jmpo    r15, target
.endm

start:  loadimm r10, hi(ROUNDS)
        loadimm r11, lo(ROUNDS)
round:  loadimm r8, hi(STEPS)
        loadimm r9, lo(STEPS)
        jmp     states

; next: r0 = a random byte, from x = 5x + 0x3619. When the round has had all its
; steps it is over, and nobody returns to the state.

next:   shlimm  r0, r2, 2
        shrimm  r1, r3, 6
        or      r0, r1
        shlimm  r1, r3, 2               ; r0:r1 = 4x
        add16   r2, r3, r0, r1
        loadimm r0, 0x36
        loadimm r1, 0x19
        add16   r2, r3, r0, r1
        mov     r0, r2
        count   r8, r9, .over
        return
.over:  pop     r15
        pop     r15
        count   r10, r11, .done
        jmp     round
.done:  mov     r0, r4
        call    put_hex
        mov     r0, r5
        call    put_hex
        loadimm r0, '\n'
        output  r0
        jmp     $

        .include "lib.asm"

; All states have the same length, so the place of each can be computed.

        .align  256
states:
        .rept STATES, n
        call    next
        addimm  r4, r4, n * 7 & 255
        xor     r5, r4
        rotlimm r5, r5, n % 7 + 1
        add     r4, r0
        shrimm  r0, r0, n % 8
        jmpo    r0, states + (n * 5 + 3) % STATES * LENGTH
        jmp     states + (n * 3 + 11) % STATES * LENGTH
        .endr
LENGTH  = ($ - states) / STATES
