.machine rv32i
# selftest.asm: tries every instruction of RV32I and M, and the traps
#
#   lathe run machines/rv32i/programs/selftest.asm
#
# The idea: a test has a number, operands, and the result that the manual demands.
# It prints `ok` if all tests pass. Otherwise it prints the number of the first that
# does not, and ends with that number as its code.
#
#   gp       the number of the test
#   t6       the result that is wanted
#   s2, s3   the cause and the address of the last trap
#
# expect: output "ok\n"

        .globl  main

        .equ    STACK, 0x20000

# check: a register must hold a value.

.macro check register, value
        li      t6, value
        beq     register, t6, .ok
        j       fail
.ok:
.endm

# same: two registers must hold the same.

.macro same one, other
        beq     one, other, .ok
        j       fail
.ok:
.endm

# rr, ri: an operation on two registers, or on a register and an immediate.

.macro rr number, op, result, x, y
        li      gp, number
        li      t1, x
        li      t2, y
        op      t3, t1, t2
        check   t3, result
.endm

.macro ri number, op, result, x, y
        li      gp, number
        li      t1, x
        op      t3, t1, y
        check   t3, result
.endm

# taken: a branch that must be taken, forwards and backwards.

.macro taken number, op, x, y
        li      gp, number
        li      t1, x
        li      t2, y
        op      t1, t2, .there
        j       fail
.back:  j       .on
.there: op      t1, t2, .back
        j       fail
.on:
.endm

# passed: a branch that must not be taken.

.macro passed number, op, x, y
        li      gp, number
        li      t1, x
        li      t2, y
        j       .begin
.back:  j       fail
.begin: op      t1, t2, .there
        op      t1, t2, .back
        j       .on
.there: j       fail
.on:
.endm

# load: from the table `bytes`, at a base in it with an offset.

.macro load number, op, result, base, offset
        li      gp, number
        la      t1, bytes + base
        op      t2, offset(t1)
        check   t2, result
.endm

# store: into two words that were 0xDEADBEEF; both are compared.

.macro store number, op, value, base, offset, first, second
        li      gp, number
        la      t1, words
        li      t2, 0xDEADBEEF
        sw      t2, 0(t1)
        sw      t2, 4(t1)
        li      t2, value
        addi    t3, t1, base
        op      t2, offset(t3)
        lw      t3, 0(t1)
        check   t3, first
        lw      t3, 4(t1)
        check   t3, second
.endm

# illegal: a word that is no instruction must trap, with its own address.

.macro illegal number, bits
        li      gp, number
        li      s2, 0
        la      s4, .at
.at:    .word   bits
        check   s2, 2
        same    s3, s4
.endm

        .text
main:   li      sp, STACK

# ---- Two registers ----

        rr        1, add,    0x00000000, 0x00000000, 0x00000000
        rr        2, add,    0x00000002, 0x00000001, 0x00000001
        rr        3, add,    0x0000000A, 0x00000003, 0x00000007
        rr        4, add,    0xFFFF8000, 0x00000000, 0xFFFF8000
        rr        5, add,    0x80000000, 0x80000000, 0x00000000
        rr        6, add,    0x7FFF8000, 0x80000000, 0xFFFF8000
        rr        7, add,    0x80007FFE, 0x7FFFFFFF, 0x00007FFF
        rr        8, add,    0x7FFFFFFE, 0x7FFFFFFF, 0xFFFFFFFF
        rr        9, add,    0x00000000, 0xFFFFFFFF, 0x00000001
        rr       10, add,    0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
        rr       11, add,    0x80000000, 0x00000001, 0x7FFFFFFF
        rr       12, add,    0x00000000, 0x80000000, 0x80000000

        rr       13, sub,    0x00000000, 0x00000000, 0x00000000
        rr       14, sub,    0x00000000, 0x00000001, 0x00000001
        rr       15, sub,    0xFFFFFFFC, 0x00000003, 0x00000007
        rr       16, sub,    0x00008000, 0x00000000, 0xFFFF8000
        rr       17, sub,    0x80000000, 0x80000000, 0x00000000
        rr       18, sub,    0x80008000, 0x80000000, 0xFFFF8000
        rr       19, sub,    0x7FFF8000, 0x7FFFFFFF, 0x00007FFF
        rr       20, sub,    0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
        rr       21, sub,    0xFFFFFFFE, 0xFFFFFFFF, 0x00000001
        rr       22, sub,    0x00000000, 0xFFFFFFFF, 0xFFFFFFFF
        rr       23, sub,    0x80000002, 0x00000001, 0x7FFFFFFF
        rr       24, sub,    0x00000000, 0x80000000, 0x80000000

        rr       25, slt,    0x00000000, 0x00000000, 0x00000000
        rr       26, slt,    0x00000000, 0x00000001, 0x00000001
        rr       27, slt,    0x00000001, 0x00000003, 0x00000007
        rr       28, slt,    0x00000000, 0x00000007, 0x00000003
        rr       29, slt,    0x00000000, 0x00000000, 0xFFFF8000
        rr       30, slt,    0x00000001, 0x80000000, 0x00000000
        rr       31, slt,    0x00000001, 0x80000000, 0xFFFF8000
        rr       32, slt,    0x00000001, 0x00000000, 0x00007FFF
        rr       33, slt,    0x00000000, 0x7FFFFFFF, 0x00000000
        rr       34, slt,    0x00000001, 0x80000000, 0x7FFFFFFF
        rr       35, slt,    0x00000000, 0x7FFFFFFF, 0x80000000
        rr       36, slt,    0x00000000, 0x00000000, 0xFFFFFFFF
        rr       37, slt,    0x00000001, 0xFFFFFFFF, 0x00000001
        rr       38, slt,    0x00000000, 0xFFFFFFFF, 0xFFFFFFFF

        rr       39, sltu,   0x00000000, 0x00000000, 0x00000000
        rr       40, sltu,   0x00000000, 0x00000001, 0x00000001
        rr       41, sltu,   0x00000001, 0x00000003, 0x00000007
        rr       42, sltu,   0x00000000, 0x00000007, 0x00000003
        rr       43, sltu,   0x00000001, 0x00000000, 0xFFFF8000
        rr       44, sltu,   0x00000000, 0x80000000, 0x00000000
        rr       45, sltu,   0x00000001, 0x80000000, 0xFFFF8000
        rr       46, sltu,   0x00000001, 0x00000000, 0x00007FFF
        rr       47, sltu,   0x00000000, 0x7FFFFFFF, 0x00000000
        rr       48, sltu,   0x00000000, 0x80000000, 0x7FFFFFFF
        rr       49, sltu,   0x00000001, 0x7FFFFFFF, 0x80000000
        rr       50, sltu,   0x00000001, 0x00000000, 0xFFFFFFFF
        rr       51, sltu,   0x00000000, 0xFFFFFFFF, 0x00000001
        rr       52, sltu,   0x00000000, 0xFFFFFFFF, 0xFFFFFFFF

        rr       53, xor,    0xF00FF00F, 0xFF00FF00, 0x0F0F0F0F
        rr       54, xor,    0xFF00FF00, 0x0FF00FF0, 0xF0F0F0F0
        rr       55, xor,    0x0FF00FF0, 0x00FF00FF, 0x0F0F0F0F
        rr       56, xor,    0x00FF00FF, 0xF00FF00F, 0xF0F0F0F0
        rr       57, xor,    0xFFFFFFFF, 0x00000000, 0xFFFFFFFF
        rr       58, xor,    0x00000000, 0x12345678, 0x12345678

        rr       59, or,     0xFF0FFF0F, 0xFF00FF00, 0x0F0F0F0F
        rr       60, or,     0xFFF0FFF0, 0x0FF00FF0, 0xF0F0F0F0
        rr       61, or,     0x0FFF0FFF, 0x00FF00FF, 0x0F0F0F0F
        rr       62, or,     0xF0FFF0FF, 0xF00FF00F, 0xF0F0F0F0
        rr       63, or,     0xFFFFFFFF, 0x00000000, 0xFFFFFFFF
        rr       64, or,     0x12345678, 0x12345678, 0x12345678

        rr       65, and,    0x0F000F00, 0xFF00FF00, 0x0F0F0F0F
        rr       66, and,    0x00F000F0, 0x0FF00FF0, 0xF0F0F0F0
        rr       67, and,    0x000F000F, 0x00FF00FF, 0x0F0F0F0F
        rr       68, and,    0xF000F000, 0xF00FF00F, 0xF0F0F0F0
        rr       69, and,    0x00000000, 0x00000000, 0xFFFFFFFF
        rr       70, and,    0x12345678, 0x12345678, 0x12345678

        rr       71, sll,    0x00000001, 0x00000001, 0x00000000
        rr       72, sll,    0x00000002, 0x00000001, 0x00000001
        rr       73, sll,    0x80000000, 0x00000001, 0x0000001F
        rr       74, sll,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr       75, sll,    0xFFFFFF80, 0xFFFFFFFF, 0x00000007
        rr       76, sll,    0x80000000, 0xFFFFFFFF, 0x0000001F
        rr       77, sll,    0x48484000, 0x21212121, 0x0000000E
        rr       78, sll,    0x00000000, 0x80000000, 0x00000001
        rr       79, sll,    0x00000000, 0x80000000, 0x0000001F
        rr       80, sll,    0xFFFFFF80, 0x7FFFFFFF, 0x00000007
        rr       81, sll,    0x60604000, 0x81818181, 0x0000000E
        rr       82, sll,    0x81818181, 0x81818181, 0x00000020
        rr       83, sll,    0x48484000, 0x21212121, 0xFFFFFFCE
        rr       84, sll,    0x80000000, 0x81818181, 0xFFFFFFFF

        rr       85, srl,    0x00000001, 0x00000001, 0x00000000
        rr       86, srl,    0x00000000, 0x00000001, 0x00000001
        rr       87, srl,    0x00000000, 0x00000001, 0x0000001F
        rr       88, srl,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr       89, srl,    0x01FFFFFF, 0xFFFFFFFF, 0x00000007
        rr       90, srl,    0x00000001, 0xFFFFFFFF, 0x0000001F
        rr       91, srl,    0x00008484, 0x21212121, 0x0000000E
        rr       92, srl,    0x40000000, 0x80000000, 0x00000001
        rr       93, srl,    0x00000001, 0x80000000, 0x0000001F
        rr       94, srl,    0x00FFFFFF, 0x7FFFFFFF, 0x00000007
        rr       95, srl,    0x00020606, 0x81818181, 0x0000000E
        rr       96, srl,    0x81818181, 0x81818181, 0x00000020
        rr       97, srl,    0x00008484, 0x21212121, 0xFFFFFFCE
        rr       98, srl,    0x00000001, 0x81818181, 0xFFFFFFFF

        rr       99, sra,    0x00000001, 0x00000001, 0x00000000
        rr      100, sra,    0x00000000, 0x00000001, 0x00000001
        rr      101, sra,    0x00000000, 0x00000001, 0x0000001F
        rr      102, sra,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr      103, sra,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000007
        rr      104, sra,    0xFFFFFFFF, 0xFFFFFFFF, 0x0000001F
        rr      105, sra,    0x00008484, 0x21212121, 0x0000000E
        rr      106, sra,    0xC0000000, 0x80000000, 0x00000001
        rr      107, sra,    0xFFFFFFFF, 0x80000000, 0x0000001F
        rr      108, sra,    0x00FFFFFF, 0x7FFFFFFF, 0x00000007
        rr      109, sra,    0xFFFE0606, 0x81818181, 0x0000000E
        rr      110, sra,    0x81818181, 0x81818181, 0x00000020
        rr      111, sra,    0x00008484, 0x21212121, 0xFFFFFFCE
        rr      112, sra,    0xFFFFFFFF, 0x81818181, 0xFFFFFFFF

# ---- Multiplication and division ----

        rr      113, mul,    0x00000000, 0x00000000, 0x00000000
        rr      114, mul,    0x00000001, 0x00000001, 0x00000001
        rr      115, mul,    0x00000015, 0x00000003, 0x00000007
        rr      116, mul,    0x00000000, 0x00000000, 0xFFFF8000
        rr      117, mul,    0x00000000, 0x80000000, 0x00000000
        rr      118, mul,    0x00000000, 0x80000000, 0xFFFF8000
        rr      119, mul,    0x0000FF7F, 0xAAAAAAAB, 0x0002FE7D
        rr      120, mul,    0x0000FF7F, 0x0002FE7D, 0xAAAAAAAB
        rr      121, mul,    0x00000000, 0xFF000000, 0xFF000000
        rr      122, mul,    0x00000001, 0xFFFFFFFF, 0xFFFFFFFF
        rr      123, mul,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000001
        rr      124, mul,    0xFFFFFFFF, 0x00000001, 0xFFFFFFFF
        rr      125, mul,    0x00000000, 0x80000000, 0x80000000
        rr      126, mul,    0x00000001, 0x7FFFFFFF, 0x7FFFFFFF
        rr      127, mul,    0x80000000, 0x80000000, 0xFFFFFFFF

        rr      128, mulh,   0x00000000, 0x00000000, 0x00000000
        rr      129, mulh,   0x00000000, 0x00000001, 0x00000001
        rr      130, mulh,   0x00000000, 0x00000003, 0x00000007
        rr      131, mulh,   0x00000000, 0x00000000, 0xFFFF8000
        rr      132, mulh,   0x00000000, 0x80000000, 0x00000000
        rr      133, mulh,   0x00004000, 0x80000000, 0xFFFF8000
        rr      134, mulh,   0xFFFF0081, 0xAAAAAAAB, 0x0002FE7D
        rr      135, mulh,   0xFFFF0081, 0x0002FE7D, 0xAAAAAAAB
        rr      136, mulh,   0x00010000, 0xFF000000, 0xFF000000
        rr      137, mulh,   0x00000000, 0xFFFFFFFF, 0xFFFFFFFF
        rr      138, mulh,   0xFFFFFFFF, 0xFFFFFFFF, 0x00000001
        rr      139, mulh,   0xFFFFFFFF, 0x00000001, 0xFFFFFFFF
        rr      140, mulh,   0x40000000, 0x80000000, 0x80000000
        rr      141, mulh,   0x3FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF
        rr      142, mulh,   0x00000000, 0x80000000, 0xFFFFFFFF

        rr      143, mulhsu, 0x00000000, 0x00000000, 0x00000000
        rr      144, mulhsu, 0x00000000, 0x00000001, 0x00000001
        rr      145, mulhsu, 0x00000000, 0x00000003, 0x00000007
        rr      146, mulhsu, 0x00000000, 0x00000000, 0xFFFF8000
        rr      147, mulhsu, 0x00000000, 0x80000000, 0x00000000
        rr      148, mulhsu, 0x80004000, 0x80000000, 0xFFFF8000
        rr      149, mulhsu, 0xFFFF0081, 0xAAAAAAAB, 0x0002FE7D
        rr      150, mulhsu, 0x0001FEFE, 0x0002FE7D, 0xAAAAAAAB
        rr      151, mulhsu, 0xFF010000, 0xFF000000, 0xFF000000
        rr      152, mulhsu, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF
        rr      153, mulhsu, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000001
        rr      154, mulhsu, 0x00000000, 0x00000001, 0xFFFFFFFF
        rr      155, mulhsu, 0xC0000000, 0x80000000, 0x80000000
        rr      156, mulhsu, 0x3FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF
        rr      157, mulhsu, 0x80000000, 0x80000000, 0xFFFFFFFF

        rr      158, mulhu,  0x00000000, 0x00000000, 0x00000000
        rr      159, mulhu,  0x00000000, 0x00000001, 0x00000001
        rr      160, mulhu,  0x00000000, 0x00000003, 0x00000007
        rr      161, mulhu,  0x00000000, 0x00000000, 0xFFFF8000
        rr      162, mulhu,  0x00000000, 0x80000000, 0x00000000
        rr      163, mulhu,  0x7FFFC000, 0x80000000, 0xFFFF8000
        rr      164, mulhu,  0x0001FEFE, 0xAAAAAAAB, 0x0002FE7D
        rr      165, mulhu,  0x0001FEFE, 0x0002FE7D, 0xAAAAAAAB
        rr      166, mulhu,  0xFE010000, 0xFF000000, 0xFF000000
        rr      167, mulhu,  0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
        rr      168, mulhu,  0x00000000, 0xFFFFFFFF, 0x00000001
        rr      169, mulhu,  0x00000000, 0x00000001, 0xFFFFFFFF
        rr      170, mulhu,  0x40000000, 0x80000000, 0x80000000
        rr      171, mulhu,  0x3FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF
        rr      172, mulhu,  0x7FFFFFFF, 0x80000000, 0xFFFFFFFF

        rr      173, div,    0x00000003, 0x00000014, 0x00000006
        rr      174, div,    0xFFFFFFFD, 0xFFFFFFEC, 0x00000006
        rr      175, div,    0xFFFFFFFD, 0x00000014, 0xFFFFFFFA
        rr      176, div,    0x00000003, 0xFFFFFFEC, 0xFFFFFFFA
        rr      177, div,    0x80000000, 0x80000000, 0x00000001
        rr      178, div,    0x80000000, 0x80000000, 0xFFFFFFFF
        rr      179, div,    0xFFFFFFFF, 0x80000000, 0x00000000
        rr      180, div,    0xFFFFFFFF, 0x00000001, 0x00000000
        rr      181, div,    0xFFFFFFFF, 0x00000000, 0x00000000
        rr      182, div,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr      183, div,    0x00000000, 0x00000007, 0x80000000
        rr      184, div,    0x00000000, 0xFFFFFFFF, 0x7FFFFFFF
        rr      185, div,    0x00000000, 0x00000005, 0x00000007
        rr      186, div,    0x00000000, 0xFFFFFFFB, 0x00000007

        rr      187, divu,   0x00000003, 0x00000014, 0x00000006
        rr      188, divu,   0x2AAAAAA7, 0xFFFFFFEC, 0x00000006
        rr      189, divu,   0x00000000, 0x00000014, 0xFFFFFFFA
        rr      190, divu,   0x00000000, 0xFFFFFFEC, 0xFFFFFFFA
        rr      191, divu,   0x80000000, 0x80000000, 0x00000001
        rr      192, divu,   0x00000000, 0x80000000, 0xFFFFFFFF
        rr      193, divu,   0xFFFFFFFF, 0x80000000, 0x00000000
        rr      194, divu,   0xFFFFFFFF, 0x00000001, 0x00000000
        rr      195, divu,   0xFFFFFFFF, 0x00000000, 0x00000000
        rr      196, divu,   0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr      197, divu,   0x00000000, 0x00000007, 0x80000000
        rr      198, divu,   0x00000002, 0xFFFFFFFF, 0x7FFFFFFF
        rr      199, divu,   0x00000000, 0x00000005, 0x00000007
        rr      200, divu,   0x24924923, 0xFFFFFFFB, 0x00000007

        rr      201, rem,    0x00000002, 0x00000014, 0x00000006
        rr      202, rem,    0xFFFFFFFE, 0xFFFFFFEC, 0x00000006
        rr      203, rem,    0x00000002, 0x00000014, 0xFFFFFFFA
        rr      204, rem,    0xFFFFFFFE, 0xFFFFFFEC, 0xFFFFFFFA
        rr      205, rem,    0x00000000, 0x80000000, 0x00000001
        rr      206, rem,    0x00000000, 0x80000000, 0xFFFFFFFF
        rr      207, rem,    0x80000000, 0x80000000, 0x00000000
        rr      208, rem,    0x00000001, 0x00000001, 0x00000000
        rr      209, rem,    0x00000000, 0x00000000, 0x00000000
        rr      210, rem,    0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr      211, rem,    0x00000007, 0x00000007, 0x80000000
        rr      212, rem,    0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF
        rr      213, rem,    0x00000005, 0x00000005, 0x00000007
        rr      214, rem,    0xFFFFFFFB, 0xFFFFFFFB, 0x00000007

        rr      215, remu,   0x00000002, 0x00000014, 0x00000006
        rr      216, remu,   0x00000002, 0xFFFFFFEC, 0x00000006
        rr      217, remu,   0x00000014, 0x00000014, 0xFFFFFFFA
        rr      218, remu,   0xFFFFFFEC, 0xFFFFFFEC, 0xFFFFFFFA
        rr      219, remu,   0x00000000, 0x80000000, 0x00000001
        rr      220, remu,   0x80000000, 0x80000000, 0xFFFFFFFF
        rr      221, remu,   0x80000000, 0x80000000, 0x00000000
        rr      222, remu,   0x00000001, 0x00000001, 0x00000000
        rr      223, remu,   0x00000000, 0x00000000, 0x00000000
        rr      224, remu,   0xFFFFFFFF, 0xFFFFFFFF, 0x00000000
        rr      225, remu,   0x00000007, 0x00000007, 0x80000000
        rr      226, remu,   0x00000001, 0xFFFFFFFF, 0x7FFFFFFF
        rr      227, remu,   0x00000005, 0x00000005, 0x00000007
        rr      228, remu,   0x00000006, 0xFFFFFFFB, 0x00000007

# ---- Immediates ----

        ri      229, addi,  0x00000000, 0x00000000, 0
        ri      230, addi,  0x00000002, 0x00000001, 1
        ri      231, addi,  0x0000000A, 0x00000003, 7
        ri      232, addi,  0xFFFFF800, 0x00000000, -2048
        ri      233, addi,  0x80000000, 0x80000000, 0
        ri      234, addi,  0x7FFFF800, 0x80000000, -2048
        ri      235, addi,  0x800007FE, 0x7FFFFFFF, 2047
        ri      236, addi,  0x00000000, 0xFFFFFFFF, 1
        ri      237, addi,  0xFFFFFFFE, 0xFFFFFFFF, -1
        ri      238, addi,  0xFFFFFFFF, 0x00000000, -1

        ri      239, slti,  0x00000000, 0x00000000, 0
        ri      240, slti,  0x00000000, 0x00000001, 1
        ri      241, slti,  0x00000001, 0x00000003, 7
        ri      242, slti,  0x00000000, 0x00000007, 3
        ri      243, slti,  0x00000000, 0x00000000, -2048
        ri      244, slti,  0x00000001, 0x80000000, 0
        ri      245, slti,  0x00000001, 0x80000000, -2048
        ri      246, slti,  0x00000001, 0x00000000, 2047
        ri      247, slti,  0x00000000, 0x7FFFFFFF, -1
        ri      248, slti,  0x00000000, 0x00000000, -1
        ri      249, slti,  0x00000001, 0xFFFFFFFF, 1
        ri      250, slti,  0x00000000, 0xFFFFFFFF, -1

        ri      251, sltiu, 0x00000000, 0x00000000, 0
        ri      252, sltiu, 0x00000000, 0x00000001, 1
        ri      253, sltiu, 0x00000001, 0x00000003, 7
        ri      254, sltiu, 0x00000000, 0x00000007, 3
        ri      255, sltiu, 0x00000001, 0x00000000, -2048
        ri      256, sltiu, 0x00000000, 0x80000000, 0
        ri      257, sltiu, 0x00000001, 0x80000000, -2048
        ri      258, sltiu, 0x00000001, 0xFFFFF7FF, -2048
        ri      259, sltiu, 0x00000000, 0xFFFFFFFF, -1
        ri      260, sltiu, 0x00000001, 0x00000000, -1
        ri      261, sltiu, 0x00000000, 0xFFFFFFFF, 1
        ri      262, sltiu, 0x00000001, 0x00000000, 1

        ri      263, xori,  0xFF00F00F, 0x00FF0F00, -241
        ri      264, xori,  0x0FF00F00, 0x0FF00FF0, 240
        ri      265, xori,  0x00FF0FF0, 0x00FF08FF, 1807
        ri      266, xori,  0xF00FF0FF, 0xF00FF00F, 240
        ri      267, xori,  0xEDCBA987, 0x12345678, -1

        ri      268, ori,   0xFFFFFF0F, 0xFF00FF00, -241
        ri      269, ori,   0x0FF00FF0, 0x0FF00FF0, 240
        ri      270, ori,   0x00FF07FF, 0x00FF00FF, 1807
        ri      271, ori,   0xF00FF0FF, 0xF00FF00F, 240
        ri      272, ori,   0xFFFFFFFF, 0x00000000, -1

        ri      273, andi,  0xFF00FF00, 0xFF00FF00, -241
        ri      274, andi,  0x000000F0, 0x0FF00FF0, 240
        ri      275, andi,  0x0000000F, 0x00FF00FF, 1807
        ri      276, andi,  0x00000000, 0xF00FF00F, 240
        ri      277, andi,  0x12345678, 0x12345678, -1

        ri      278, slli,  0x00000001, 0x00000001, 0
        ri      279, slli,  0x00000002, 0x00000001, 1
        ri      280, slli,  0x80000000, 0x00000001, 31
        ri      281, slli,  0xFFFFFF80, 0xFFFFFFFF, 7
        ri      282, slli,  0x48484000, 0x21212121, 14
        ri      283, slli,  0x00000000, 0x80000000, 31
        ri      284, slli,  0xFFFFFF80, 0x7FFFFFFF, 7
        ri      285, slli,  0x80000000, 0x81818181, 31

        ri      286, srli,  0x00000001, 0x00000001, 0
        ri      287, srli,  0x00000000, 0x00000001, 1
        ri      288, srli,  0x00000000, 0x00000001, 31
        ri      289, srli,  0x01FFFFFF, 0xFFFFFFFF, 7
        ri      290, srli,  0x00008484, 0x21212121, 14
        ri      291, srli,  0x00000001, 0x80000000, 31
        ri      292, srli,  0x00FFFFFF, 0x7FFFFFFF, 7
        ri      293, srli,  0x00000001, 0x81818181, 31

        ri      294, srai,  0x00000001, 0x00000001, 0
        ri      295, srai,  0x00000000, 0x00000001, 1
        ri      296, srai,  0x00000000, 0x00000001, 31
        ri      297, srai,  0xFFFFFFFF, 0xFFFFFFFF, 7
        ri      298, srai,  0x00008484, 0x21212121, 14
        ri      299, srai,  0xFFFFFFFF, 0x80000000, 31
        ri      300, srai,  0x00FFFFFF, 0x7FFFFFFF, 7
        ri      301, srai,  0xFFFFFFFF, 0x81818181, 31

# ---- Branches ----

        taken   302, beq, 0x00000000, 0x00000000
        passed  303, beq, 0x00000000, 0x00000001
        passed  304, beq, 0x00000001, 0x00000000
        taken   305, beq, 0xFFFFFFFF, 0xFFFFFFFF
        passed  306, beq, 0xFFFFFFFF, 0x00000001
        passed  307, beq, 0x00000001, 0xFFFFFFFF
        passed  308, beq, 0x80000000, 0x7FFFFFFF
        passed  309, beq, 0x7FFFFFFF, 0x80000000
        passed  310, beq, 0x80000000, 0x80000001

        passed  311, bne, 0x00000000, 0x00000000
        taken   312, bne, 0x00000000, 0x00000001
        taken   313, bne, 0x00000001, 0x00000000
        passed  314, bne, 0xFFFFFFFF, 0xFFFFFFFF
        taken   315, bne, 0xFFFFFFFF, 0x00000001
        taken   316, bne, 0x00000001, 0xFFFFFFFF
        taken   317, bne, 0x80000000, 0x7FFFFFFF
        taken   318, bne, 0x7FFFFFFF, 0x80000000
        taken   319, bne, 0x80000000, 0x80000001

        passed  320, blt, 0x00000000, 0x00000000
        taken   321, blt, 0x00000000, 0x00000001
        passed  322, blt, 0x00000001, 0x00000000
        passed  323, blt, 0xFFFFFFFF, 0xFFFFFFFF
        taken   324, blt, 0xFFFFFFFF, 0x00000001
        passed  325, blt, 0x00000001, 0xFFFFFFFF
        taken   326, blt, 0x80000000, 0x7FFFFFFF
        passed  327, blt, 0x7FFFFFFF, 0x80000000
        taken   328, blt, 0x80000000, 0x80000001

        taken   329, bge, 0x00000000, 0x00000000
        passed  330, bge, 0x00000000, 0x00000001
        taken   331, bge, 0x00000001, 0x00000000
        taken   332, bge, 0xFFFFFFFF, 0xFFFFFFFF
        passed  333, bge, 0xFFFFFFFF, 0x00000001
        taken   334, bge, 0x00000001, 0xFFFFFFFF
        passed  335, bge, 0x80000000, 0x7FFFFFFF
        taken   336, bge, 0x7FFFFFFF, 0x80000000
        passed  337, bge, 0x80000000, 0x80000001

        passed  338, bltu, 0x00000000, 0x00000000
        taken   339, bltu, 0x00000000, 0x00000001
        passed  340, bltu, 0x00000001, 0x00000000
        passed  341, bltu, 0xFFFFFFFF, 0xFFFFFFFF
        passed  342, bltu, 0xFFFFFFFF, 0x00000001
        taken   343, bltu, 0x00000001, 0xFFFFFFFF
        passed  344, bltu, 0x80000000, 0x7FFFFFFF
        taken   345, bltu, 0x7FFFFFFF, 0x80000000
        taken   346, bltu, 0x80000000, 0x80000001

        taken   347, bgeu, 0x00000000, 0x00000000
        passed  348, bgeu, 0x00000000, 0x00000001
        taken   349, bgeu, 0x00000001, 0x00000000
        taken   350, bgeu, 0xFFFFFFFF, 0xFFFFFFFF
        taken   351, bgeu, 0xFFFFFFFF, 0x00000001
        passed  352, bgeu, 0x00000001, 0xFFFFFFFF
        taken   353, bgeu, 0x80000000, 0x7FFFFFFF
        passed  354, bgeu, 0x7FFFFFFF, 0x80000000
        passed  355, bgeu, 0x80000000, 0x80000001

# ---- Loads ----

        load    356, lb,  0xFFFFFFFF,  0, 0
        load    357, lb,  0x00000000,  0, 1
        load    358, lb,  0xFFFFFFF0,  0, 2
        load    359, lb,  0x0000000F,  0, 3
        load    360, lb,  0x0000007F,  8, -4
        load    361, lb,  0xFFFFFF80,  8, -3
        load    362, lb,  0xFFFFFFFF, 11, -11

        load    363, lbu, 0x000000FF,  0, 0
        load    364, lbu, 0x00000000,  0, 1
        load    365, lbu, 0x000000F0,  0, 2
        load    366, lbu, 0x0000000F,  0, 3
        load    367, lbu, 0x0000007F,  8, -4
        load    368, lbu, 0x00000080,  8, -3
        load    369, lbu, 0x000000FF, 11, -11

        load    370, lh,  0x000000FF,  0, 0
        load    371, lh,  0x00000FF0,  0, 2
        load    372, lh,  0xFFFF807F,  0, 4
        load    373, lh,  0xFFFFFE01,  8, -2
        load    374, lh,  0xFFFFF000,  0, 1
        load    375, lh,  0x00007F0F,  0, 3
        load    376, lh,  0x00000180, 12, -7

        load    377, lhu, 0x000000FF,  0, 0
        load    378, lhu, 0x00000FF0,  0, 2
        load    379, lhu, 0x0000807F,  0, 4
        load    380, lhu, 0x0000FE01,  8, -2
        load    381, lhu, 0x0000F000,  0, 1
        load    382, lhu, 0x00007F0F,  0, 3
        load    383, lhu, 0x00000180, 12, -7

        load    384, lw,  0x0FF000FF,  0, 0
        load    385, lw,  0xFE01807F,  0, 4
        load    386, lw,  0x78563412,  8, 0
        load    387, lw,  0xFE01807F,  8, -4
        load    388, lw,  0x7F0FF000,  0, 1
        load    389, lw,  0x807F0FF0,  0, 2
        load    390, lw,  0x01807F0F,  0, 3
        load    391, lw,  0x563412FE, 12, -5

# ---- Stores ----

        store   392, sb, 0x123456AA, 0,  0, 0xDEADBEAA, 0xDEADBEEF
        store   393, sb, 0xFFFFFF00, 0,  1, 0xDEAD00EF, 0xDEADBEEF
        store   394, sb, 0x8899AABB, 0,  2, 0xDEBBBEEF, 0xDEADBEEF
        store   395, sb, 0x01020304, 0,  3, 0x04ADBEEF, 0xDEADBEEF
        store   396, sb, 0xCAFEBABE, 8, -5, 0xBEADBEEF, 0xDEADBEEF
        store   397, sb, 0x00000000, 8, -4, 0xDEADBEEF, 0xDEADBE00

        store   398, sh, 0x123456AA, 0,  0, 0xDEAD56AA, 0xDEADBEEF
        store   399, sh, 0xFFFFFF00, 0,  1, 0xDEFF00EF, 0xDEADBEEF
        store   400, sh, 0x8899AABB, 0,  2, 0xAABBBEEF, 0xDEADBEEF
        store   401, sh, 0x01020304, 0,  3, 0x04ADBEEF, 0xDEADBE03
        store   402, sh, 0xCAFEBABE, 8, -5, 0xBEADBEEF, 0xDEADBEBA
        store   403, sh, 0x00000000, 8, -4, 0xDEADBEEF, 0xDEAD0000

        store   404, sw, 0x123456AA, 0,  0, 0x123456AA, 0xDEADBEEF
        store   405, sw, 0xFFFFFF00, 0,  1, 0xFFFF00EF, 0xDEADBEFF
        store   406, sw, 0x8899AABB, 0,  2, 0xAABBBEEF, 0xDEAD8899
        store   407, sw, 0x01020304, 0,  3, 0x04ADBEEF, 0xDE010203
        store   408, sw, 0xCAFEBABE, 8, -5, 0xBEADBEEF, 0xDECAFEBA
        store   409, sw, 0x00000000, 8, -4, 0xDEADBEEF, 0x00000000

# ---- The same register twice, and x0 ----

        li      gp, 410                 # the destination is the first source
        li      t1, 13
        li      t2, 11
        sub     t1, t1, t2
        check   t1, 2

        li      gp, 411                 # the destination is the second source
        li      t1, 14
        li      t2, 11
        sub     t2, t1, t2
        check   t2, 3

        li      gp, 412                 # all three are one
        li      t1, 13
        add     t1, t1, t1
        check   t1, 26

        li      gp, 413                 # x0 as a source is 0
        li      t1, 15
        sub     t2, x0, t1
        check   t2, -15
        add     t2, t1, x0
        check   t2, 15

        li      gp, 414                 # x0 as a destination stays 0, whatever writes to it
        li      t1, 16
        add     x0, t1, t1
        check   x0, 0
        addi    x0, t1, 1
        check   x0, 0
        mul     x0, t1, t1
        check   x0, 0
        lui     x0, 0xFFFFF
        check   x0, 0
        auipc   x0, 1
        check   x0, 0
        la      t1, bytes
        lw      x0, 0(t1)
        check   x0, 0
        csrrw   x0, mscratch, t1
        check   x0, 0

        li      gp, 415                 # a load into its own base
        la      t1, bytes
        lw      t1, 8(t1)
        check   t1, 0x78563412

        li      gp, 416                 # a store of its own base
        la      t1, words
        sw      t1, 4(t1)
        lw      t2, 4(t1)
        same    t1, t2

# ---- Upper immediates ----

        li      gp, 417                 # lui
        lui     t1, 0
        check   t1, 0
        lui     t1, 0xFFFFF
        check   t1, 0xFFFFF000
        lui     t1, 0x7FFFF
        srai    t1, t1, 12
        check   t1, 0x0007FFFF
        lui     t1, 0x80000
        srai    t1, t1, 20
        check   t1, 0xFFFFF800

        li      gp, 418                 # auipc adds to its own address
        la      t2, .here
.here:  auipc   t1, 0
        same    t1, t2
        la      t2, .lower
.lower: auipc   t1, 0xFFFFF
        sub     t1, t1, t2
        check   t1, -4096
        la      t2, .upper
.upper: auipc   t1, 0x12345
        sub     t1, t1, t2
        check   t1, 0x12345000

# ---- Jumps ----

        li      gp, 419                 # jal leaves the address after it
        la      t2, .link
        jal     t1, .far
.link:  j       fail
.far:   same    t1, t2

        li      gp, 420                 # backwards, with ra
        j       .over
.back:  la      t2, .after
        same    ra, t2
        j       .on
.over:  jal     .back
.after: j       fail

.on:
        li      gp, 421                 # jalr, its offset and its lowest bit
        la      t1, .goal - 8
        jalr    t2, 9(t1)               # 9 makes it odd: the lowest bit goes
.from:  j       fail
.goal:  la      t3, .from
        same    t2, t3

        li      gp, 422                 # a negative offset
        la      t1, .goal2 + 2048
        jalr    x0, -2048(t1)
        j       fail

.goal2:
        li      gp, 423                 # jalr into its own base
        la      t1, .goal3
        jalr    t1, 0(t1)
.from3: j       fail
.goal3: la      t3, .from3
        same    t1, t3

        li      gp, 424                 # a call and its return
        li      a0, 20
        call    double
        check   a0, 40
        la      t0, double
        jalr    t0
        check   a0, 80

# ---- Fences ----

        li      gp, 425                 # fences do nothing, whatever they order
        li      t1, 5
        fence
        fence   1, 2
        .word   0x8330000F              # fence.tso
        fence.i
        check   t1, 5

        li      gp, 426                 # an instruction that the program writes
        lw      t1, .new
        sw      t1, .old, t2
        fence.i
        li      t1, 0
.old:   j       fail
        check   t1, 77
        j       .done
.new:   addi    t1, x0, 77
.done:

# ---- Control registers ----

        li      gp, 427                 # csrrw gives the old value
        li      t1, 0x12345678
        csrrw   x0, mscratch, t1
        li      t2, 0x0F0F0F0F
        csrrw   t3, mscratch, t2
        check   t3, 0x12345678
        csrr    t3, mscratch
        check   t3, 0x0F0F0F0F

        li      gp, 428                 # csrrs sets
        li      t1, 0x000000F1
        csrrs   t2, mscratch, t1
        check   t2, 0x0F0F0F0F
        csrr    t2, mscratch
        check   t2, 0x0F0F0FFF

        li      gp, 429                 # csrrc clears
        li      t1, 0xFF00000E
        csrrc   t2, mscratch, t1
        check   t2, 0x0F0F0FFF
        csrr    t2, mscratch
        check   t2, 0x000F0FF1

        li      gp, 430                 # source and destination are one
        li      t1, 0x55555555
        csrrw   t1, mscratch, t1
        check   t1, 0x000F0FF1
        csrr    t1, mscratch
        check   t1, 0x55555555

        li      gp, 431                 # the immediate forms
        csrrwi  t1, mscratch, 21
        check   t1, 0x55555555
        csrrsi  t1, mscratch, 10
        check   t1, 21
        csrrci  t1, mscratch, 7
        check   t1, 31
        csrr    t1, mscratch
        check   t1, 24

        li      gp, 432                 # the first hart is number 0
        csrr    t1, mhartid
        check   t1, 0

# ---- Traps ----

        la      t0, handler
        csrw    mtvec, t0

        li      gp, 433                 # ecall
        li      s2, 0
        la      s4, .ecall
.ecall: ecall
        check   s2, 11
        same    s3, s4

        li      gp, 434                 # ebreak
        li      s2, 0
        la      s4, .break
.break: ebreak
        check   s2, 3
        same    s3, s4

        illegal 435, 0x00000000         # all zeros
        illegal 436, 0xFFFFFFFF         # all ones
        illegal 437, 0x00000001         # a compressed instruction
        illegal 438, 0x02051513         # slli with a shift of 32
        illegal 439, 0x02055513         # srli with a shift of 32
        illegal 440, 0x40051513         # slli with the bit of srai
        illegal 441, 0x40007033         # and with the bit of sub
        illegal 442, 0x04000033         # add with an unknown funct7
        illegal 443, 0x00003003         # a load of 64 bits
        illegal 444, 0x00006003         # lwu
        illegal 445, 0x00003023         # a store of 64 bits
        illegal 446, 0x00002063         # an unknown branch
        illegal 447, 0x00003063         # another
        illegal 448, 0x00001067         # jalr with an unknown funct3
        illegal 449, 0x0000200F         # a fence with an unknown funct3
        illegal 450, 0x10200073         # sret, without a supervisor
        illegal 451, 0x000000F3         # ecall with a destination
        illegal 452, 0x00004073         # an unknown system instruction
        illegal 453, 0x0000001B         # addiw
        illegal 454, 0x0000002F         # an atomic one
        illegal 455, 0x00000053         # floating point
        illegal 456, 0x0000000B         # an opcode left to anyone

        li      gp, 457                 # the lowest bits of mtvec are no part of the address
        la      t0, handler + 1
        csrw    mtvec, t0
        li      s2, 0
        ecall
        check   s2, 11

        li      gp, 458                 # the exit from a trap turns interrupts on again
        csrsi   mstatus, 8
        ecall
        csrr    t1, mstatus
        check   t1, 0x1888
        csrw    mstatus, zero           # there is no mode but the machine's
        csrr    t1, mstatus
        check   t1, 0x1800

        li      gp, 459                 # 32 bits, I and M
        csrw    misa, zero
        csrr    t1, misa
        check   t1, 0x40001100

# ---- Counters ----

        li      gp, 460                 # instructions are counted one by one
        csrr    t1, minstret
        nop
        nop
        csrr    t2, minstret
        sub     t2, t2, t1
        check   t2, 3
        csrr    t1, cycle
        csrr    t2, time
        csrr    t3, instret
        sltu    t1, zero, t1
        sltu    t2, zero, t2
        sltu    t3, zero, t3
        add     t1, t1, t2
        add     t1, t1, t3
        check   t1, 3

        li      gp, 461                 # what is written is what the next instruction reads
        csrwi   minstret, 5
        csrr    t1, minstret
        check   t1, 5
        li      t1, 77
        csrw    mcycle, t1
        csrr    t2, cycle
        check   t2, 77

        li      gp, 462                 # 64 bits, which overflow into the upper half
        li      t1, -1
        csrw    minstret, t1
        csrw    minstreth, zero
        nop
        csrr    t1, minstret
        csrr    t2, minstreth
        check   t1, 0
        check   t2, 1
        csrr    t2, instreth
        check   t2, 1

        illegal 463, 0xC0001073         # csrw cycle, zero
        illegal 464, 0xC020E073         # csrsi instret, 1
        illegal 465, 0xC8253073         # csrc instreth, a0

# ---- Environment calls ----

        csrw    mtvec, zero
        li      gp, 466                 # nothing to write, and no such file
        li      a7, 64
        li      a0, 1
        li      a2, 0
        ecall
        check   a0, 0
        li      a0, 5
        li      a2, 3
        ecall
        check   a0, -9

        li      gp, 467                 # a text is written as a whole
        li      a0, 1
        la      a1, good
        li      a2, 3
        ecall
        check   a0, 3
        j       exit

# double: doubles a0.

double: add     a0, a0, a0
        ret

# handler: notes what happened where, and goes on after it.

        .align  2
handler:
        csrr    s2, mcause
        csrr    s3, mepc
        addi    t0, s3, 4
        csrw    mepc, t0
        mret
        j       fail                    # mret does not come here

# fail: prints the number in gp, and ends the program with it.

fail:   csrw    mtvec, zero
        la      a0, bad
        call    put_text
        mv      a0, gp
        call    put_dec
        call    put_line
        mv      a0, gp
        li      a7, EXIT
        ecall

        .include "lib.asm"

        .section .rodata
good:   .asciz  "ok\n"
bad:    .asciz  "failed: test "

        .data
        .align  2
bytes:  .byte   0xFF, 0x00, 0xF0, 0x0F, 0x7F, 0x80, 0x01, 0xFE, 0x12, 0x34, 0x56, 0x78
words:  .word   0, 0
