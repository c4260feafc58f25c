; text.asm: takes a text apart, again and again
;
;   lathe run benches/real/hex8/text.asm -D ROUNDS=100
;
; Each round moves every letter on by one (z becomes a), turns each word round,
; counts letters, words and the longest word, and makes a checksum of all of it.
; The text fills less than a page, so one register says where we are in it.
;
;   r4:r5    the checksum              r8     where we are in the text
;   r6       words so far              r9     where the word began
;   r7       the longest of them       r10:r11    rounds left

.machine hex8

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

start:  loadimm r10, hi(ROUNDS)
        loadimm r11, lo(ROUNDS)
round:  call    shift
        call    letters
        call    words
        call    sum_up
        eqimm   r15, r11, 0
        sub     r10, r15
        dec     r11
        mov     r15, r11
        or      r15, r10
        neqimm  r15, r15, 0
        jmpo    r15, round
        mov     r0, r4
        call    put_hex
        mov     r0, r5
        call    put_hex
        loadimm r0, '\n'
        output  r0
        jmp     $

; is_letter: r1 = 1 if r0 is one, else 0.

is_letter:
        orimm   r1, r0, 0x20
        subimm  r1, r1, 'a'
        ltimm   r1, r1, 26
        return

; shift: moves every letter on by one.

shift:  loadimm r2, hi(text)
        loadimm r8, 0
.next:  loadind r0, r2, r8
        eqimm   r15, r0, 0
        jmpfwdo r15, .done
        call    is_letter
        add     r0, r1
        orimm   r15, r0, 0x20
        eqimm   r15, r15, 'z' + 1       ; from z to a
        mulimm  r15, r15, 26
        sub     r0, r15
        storeind r0, r2, r8
        inc     r8
        jmp     .next
.done:  return

; letters: counts each letter, in small or in capitals, and all that is none in the first cell.

letters:
        loadimm r3, hi(counts)
        loadimm r8, 0
        loadimm r0, 0
.clear: storeind r0, r3, r8
        inc     r8
        ltimm   r15, r8, 32
        jmpbwdo r15, .clear
        loadimm r2, hi(text)
        loadimm r8, 0
.next:  loadind r0, r2, r8
        eqimm   r15, r0, 0
        jmpfwdo r15, .done
        call    is_letter
        mul     r0, r1
        andimm  r0, r0, 31
        loadind r1, r3, r0
        inc     r1
        storeind r1, r3, r0
        inc     r8
        jmp     .next
.done:  return

; words: turns each word round, counts them and finds the longest.

words:  loadimm r2, hi(text)
        loadimm r8, 0
        loadimm r6, 0
        loadimm r7, 0
.gap:   loadind r0, r2, r8              ; up to the next letter
        eqimm   r15, r0, 0
        jmpfwdo r15, .done
        call    is_letter
        jmpfwdo r1, .word
        inc     r8
        jmp     .gap
.word:  mov     r9, r8
.more:  inc     r8
        loadind r0, r2, r8
        call    is_letter
        jmpbwdo r1, .more
        inc     r6
        mov     r0, r8
        sub     r0, r9
        mov     r15, r0
        gt      r15, r7
        eqimm   r15, r15, 0
        jmpfwdo r15, .known
        mov     r7, r0
.known: mov     r3, r8
        call    turn
        jmp     .gap
.done:  return

; turn: turns the letters from r9 up to before r3 round.

turn:   dec     r3
        mov     r15, r9
        lt      r15, r3
        eqimm   r15, r15, 0
        jmpfwdo r15, .done
        loadind r0, r2, r9
        loadind r1, r2, r3
        storeind r1, r2, r9
        storeind r0, r2, r3
        inc     r9
        jmp     turn
.done:  return

; sum_up: mixes the text, the counts, the words and the longest into the checksum.

sum_up: loadimm r2, hi(text)
        loadimm r8, 0
.text:  loadind r0, r2, r8
        eqimm   r15, r0, 0
        jmpfwdo r15, .ended
        call    mix
        inc     r8
        jmp     .text
.ended: loadimm r2, hi(counts)
        loadimm r8, 0
.count: loadind r0, r2, r8
        call    mix
        inc     r8
        ltimm   r15, r8, 32
        jmpbwdo r15, .count
        mov     r0, r6
        call    mix
        mov     r0, r7

; mix: turns the checksum by one bit to the left and adds r0.

mix:    shrimm  r1, r4, 7
        shrimm  r15, r5, 7
        shlimm  r4, r4, 1
        or      r4, r15
        shlimm  r5, r5, 1
        or      r5, r1
        add     r5, r0
        mov     r15, r5
        lt      r15, r0                 ; carry
        add     r4, r15
        return

        .include "lib.asm"

        .align  256
text:   .asciiz "It is a truth told by all who wind yarn: the thread that is pulled in haste makes knots, and Knots make Haste useless. A patient hand finds both ends first, lays them side by side, and only Then begins; by noon the Work is done."
        .assert $ - text <= 256
        .align  256
counts: .space  32
