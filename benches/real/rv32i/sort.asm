.machine rv32i
# sort.asm: sorts numbers, hashes them, and finds them again
#
#   lathe run benches/real/rv32i/sort.asm -D ROUNDS=10
#
# Each round fills an array with random numbers, sorts it with quicksort (short
# parts with insertion sort), takes the FNV hash of its bytes, puts all numbers
# into a hash table and looks every other one up. The hash and the number of
# probes go into the checksum.
#
#   s8   the random number      s10  rounds left
#   s9   the checksum

        .if !defined(ROUNDS)
ROUNDS  = 1
        .endif

        .equ    COUNT, 256
        .equ    SLOTS, 512
        .equ    SHORT, 12 * 4           # parts up to this long are sorted by insertion
        .equ    ARRAY, 0x4000
        .equ    TABLE, 0x5000
        .equ    STACK, 0x10000

start:  li      sp, STACK
        li      s10, ROUNDS
round:  call    fill
        li      a0, ARRAY
        li      a1, ARRAY + COUNT * 4 - 4
        call    quicksort
        li      a0, ARRAY
        li      a1, ARRAY + COUNT * 4
        call    insertion
        call    hash
        call    mix
        call    table
        call    mix
        addi    s10, s10, -1
        bnez    s10, round
        mv      a0, s9
        call    put_hex
        li      a0, 0
        li      a7, 93
        ecall

# fill: random numbers into the array.

fill:   li      t0, ARRAY
        li      t1, ARRAY + COUNT * 4
        li      t2, 1664525
        li      t3, 1013904223
.next:  mul     s8, s8, t2
        add     s8, s8, t3
        sw      s8, 0(t0)
        addi    t0, t0, 4
        bne     t0, t1, .next
        ret

# quicksort: brings the unsigned words from a0 to a1, both included, nearly into
# order: parts that are short are left as they are.

quicksort:
        sub     t0, a1, a0
        li      t1, SHORT
        ble     t0, t1, .done
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        srli    t0, t0, 3               # the pivot: in the middle
        slli    t0, t0, 2
        add     t0, t0, a0
        lw      t0, 0(t0)
        mv      s0, a0
        mv      s1, a1
        mv      t1, a0                  # from the left, and from the right
        mv      t2, a1
.left:  lw      t3, 0(t1)
        bgeu    t3, t0, .right
        addi    t1, t1, 4
        j       .left
.right: lw      t4, 0(t2)
        bleu    t4, t0, .swap
        addi    t2, t2, -4
        j       .right
.swap:  bgtu    t1, t2, .parts
        sw      t4, 0(t1)
        sw      t3, 0(t2)
        addi    t1, t1, 4
        addi    t2, t2, -4
        bleu    t1, t2, .left
.parts: mv      a1, t2
        mv      a0, s0
        mv      s0, t1
        call    quicksort
        mv      a0, s0
        mv      a1, s1
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        j       quicksort
.done:  ret

# insertion: sorts the unsigned words from a0 to before a1.

insertion:
        addi    t0, a0, 4
.next:  bgeu    t0, a1, .done
        lw      t1, 0(t0)
        mv      t2, t0
.move:  beq     t2, a0, .place
        lw      t3, -4(t2)
        bleu    t3, t1, .place
        sw      t3, 0(t2)
        addi    t2, t2, -4
        j       .move
.place: sw      t1, 0(t2)
        addi    t0, t0, 4
        j       .next
.done:  ret

# hash: a0 = the FNV-1a hash of the array's bytes.

hash:   li      a0, 0x811C9DC5
        li      t0, ARRAY
        li      t1, ARRAY + COUNT * 4
        li      t2, 0x01000193
.next:  lbu     t3, 0(t0)
        xor     a0, a0, t3
        mul     a0, a0, t2
        addi    t0, t0, 1
        bne     t0, t1, .next
        ret

# table: puts all numbers into the hash table, looks every other one up, and every
# other one plus 1, which is hardly ever there. a0 = how many probes that took.

table:  addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        li      t0, TABLE
        li      t1, TABLE + SLOTS * 4
.clear: sw      zero, 0(t0)
        addi    t0, t0, 4
        bne     t0, t1, .clear
        li      s0, ARRAY
        li      s1, 0
.put:   lw      a0, 0(s0)
        call    find
        sw      a0, 0(a1)
        addi    s0, s0, 4
        li      t0, ARRAY + COUNT * 4
        bne     s0, t0, .put
        li      s0, ARRAY
.get:   lw      a0, 0(s0)
        call    find
        lw      a0, 4(s0)
        addi    a0, a0, 1
        call    find
        addi    s0, s0, 8
        li      t0, ARRAY + COUNT * 4
        bne     s0, t0, .get
        mv      a0, s1
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret

# find: a1 = the slot in which a0 is, or the empty one where it belongs. Counts in s1.

find:   srli    t0, a0, 15
        xor     t0, t0, a0
        li      t1, 0x9E3779B1
        mul     t0, t0, t1
        srli    t0, t0, 32 - 9          # 512 slots
        li      t2, TABLE
.next:  addi    s1, s1, 1
        slli    a1, t0, 2
        add     a1, a1, t2
        lw      t1, 0(a1)
        beqz    t1, .done
        beq     t1, a0, .done
        addi    t0, t0, 1
        andi    t0, t0, SLOTS - 1
        j       .next
.done:  ret

        .include "lib.asm"
