.machine rv32i
# text.asm: counts the words of a text
#
#   lathe run benches/real/rv32i/text.asm -D ROUNDS=10
#
# Each round moves every letter on by one (z becomes a), finds the words, looks
# each one up in a hash table of words by their letters, and counts it there. Then
# the table is gone through for the word that is there most often. That and the
# number of different words go into the checksum.
#
#   s0   where we are in the text      s9   the checksum
#   s1   different words               s10  rounds left

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

        .equ    SLOTS, 128              # each has the word's place, its length and how often it is there
        .equ    TABLE, 0x5000

start:  li      s10, ROUNDS
round:  call    shift
        call    clear
        call    words
        call    most
        addi    s10, s10, -1
        bnez    s10, round
        mv      a0, s9
        call    put_hex
        li      a0, 0
        li      a7, 93
        ecall

# shift: moves every letter on by one.

shift:  la      t0, text
        li      t2, 26
        li      t3, 25
.next:  lbu     t1, 0(t0)
        beqz    t1, .done
        ori     t4, t1, 0x20
        addi    t4, t4, -'a'
        bgeu    t4, t2, .keep
        addi    t1, t1, 1
        bne     t4, t3, .put
        addi    t1, t1, -26
.put:   sb      t1, 0(t0)
.keep:  addi    t0, t0, 1
        j       .next
.done:  ret

clear:  li      t0, TABLE
        li      t1, TABLE + SLOTS * 12
.next:  sw      zero, 0(t0)
        sw      zero, 4(t0)
        sw      zero, 8(t0)
        addi    t0, t0, 12
        bne     t0, t1, .next
        li      s1, 0
        ret

# words: counts every word of the text in the table.
#
#   a0   where the word begins     a1   its length     a2   its hash

words:  la      s0, text
        li      a4, 26
        mv      a6, ra
.gap:   lbu     t0, 0(s0)
        beqz    t0, .done
        ori     t0, t0, 0x20
        addi    t1, t0, -'a'
        bltu    t1, a4, .word
        addi    s0, s0, 1
        j       .gap
.word:  mv      a0, s0
        li      a2, 5381
.more:  slli    t1, a2, 5               # hash * 33 + letter
        add     a2, a2, t1
        add     a2, a2, t0
        addi    s0, s0, 1
        lbu     t0, 0(s0)
        ori     t0, t0, 0x20
        addi    t1, t0, -'a'
        bltu    t1, a4, .more
        sub     a1, s0, a0
        call    find
        j       .gap
.done:  jr      a6

# find: counts the word at a0 in its slot; a new one gets an empty slot.

find:   li      t0, TABLE
        andi    t1, a2, SLOTS - 1
.slot:  slli    t2, t1, 3               # 12 times
        slli    t3, t1, 2
        add     t2, t2, t3
        add     t2, t2, t0
        lw      t3, 4(t2)
        beqz    t3, .new
        bne     t3, a1, .next
        lw      t4, 0(t2)
        mv      t5, a0
.letter:
        lbu     t6, 0(t4)
        lbu     a3, 0(t5)
        xor     t6, t6, a3
        andi    t6, t6, 0xDF            # whether small or in capitals
        bnez    t6, .next
        addi    t4, t4, 1
        addi    t5, t5, 1
        addi    t3, t3, -1
        bnez    t3, .letter
.count: lw      t3, 8(t2)
        addi    t3, t3, 1
        sw      t3, 8(t2)
        ret
.next:  addi    t1, t1, 1
        andi    t1, t1, SLOTS - 1
        j       .slot
.new:   sw      a0, 0(t2)
        sw      a1, 4(t2)
        addi    s1, s1, 1
        j       .count

# most: mixes the letters of the most frequent word, how often it is there, and the
# number of words into the checksum. Of several it is the first in the table.

most:   addi    a6, ra, 0
        li      t0, TABLE
        li      t1, TABLE + SLOTS * 12
        li      t2, 0
        mv      t3, t0
.next:  lw      t4, 8(t0)
        bleu    t4, t2, .less
        mv      t2, t4
        mv      t3, t0
.less:  addi    t0, t0, 12
        bne     t0, t1, .next
        mv      a0, t2
        call    mix
        lw      t4, 0(t3)
        lw      t3, 4(t3)
.letter:
        lbu     a0, 0(t4)
        call    mix
        addi    t4, t4, 1
        addi    t3, t3, -1
        bnez    t3, .letter
        mv      a0, s1
        mv      ra, a6

        .include "lib.asm"

text:   .asciz  "The mill by the river has a wheel, and the wheel has a song. When the river is high the song is quick, and when the river is low the song is slow; but the miller says that the wheel and the river and the song are one, and that a miller who hears the song need not look at the river. His son looked at the river, and he looked at the wheel, and he asked: who sang before there was a wheel? The river, said the miller, but nobody ground corn to it."
