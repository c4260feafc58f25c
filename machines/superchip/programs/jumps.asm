.machine superchip
; jumps.asm: jumps through a table, with the register that the address names
;
;   lathe run machines/superchip/programs/jumps.asm
;
; The idea: JP V0, A adds the register whose number is the first digit of A: the table is at
; 0x300, so it is V3 that is added. Each entry is a jump of two bytes.
;
;   V3       twice the number of the entry
;   V6       what the entries leave, as digits
;
; expect: v6 = 4
; expect: v7 = 1
; expect: v8 = 2
; expect: v9 = 3

        LD V3, 0
        LD V6, 1
next:   CALL go
        ADD V3, 2
        SE V3, 6
        JP next
        EXIT

go:     JP V0, table

first:  LD V7, V6
        ADD V6, 1
        RET
second: LD V8, V6
        ADD V6, 1
        RET
third:  LD V9, V6
        ADD V6, 1
        RET

        .org 0x300
table:  JP first
        JP second
        JP third
