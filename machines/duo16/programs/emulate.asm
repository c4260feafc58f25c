.machine duo16
; emulate.asm: four new instructions, made of nothing
;
; The opcodes 3B to 3E are marked "funny stuff" and do not exist, so executing one is trap 1,
; and the saved pc is the address of the very instruction that the machine could not execute.
; A handler can look at its bytes, do what it should have done, move the saved pc behind it,
; and return: to the program it looks as if the machine had the instruction.
;
; What makes this easy is the order of the frame. Register number n lies at rs + 30 - 2n, for
; all of r1 (1) to rh (15): the frame is the register file, upside down.
;
;   3B ab    swap a, b      exchanges two registers
;   3C ab    count a, b     a = how many bits of b are 1
;   3D ab    root a, b      a = the square root of b, rounded down
;   3E text  say "text"     prints the text that follows, up to its zero byte
;
;   lathe run machines/duo16/programs/emulate.asm
;
; the handler:  r6 the saved pc    r7 r8 the places of a and b in the frame    r9 b's value
;
; expect: output
; | r6 and r7: 1234 5678
; | after swap: 5678 1234
; | bits of 1234 that are 1: 5
; | square root of 1234: 35
; | square root of 65535: 255

        .include "lib.asm"

; Registers are given by number, as the macro has to put them into bytes.
.macro swap a, b
        .byte 0x3B, a << 4 | b
.endm

.macro count a, b
        .byte 0x3C, a << 4 | b
.endm

.macro root a, b
        .byte 0x3D, a << 4 | b
.endm

.macro say text
        .byte 0x3E
        .asciiz text
.endm

; ── The program: instructions old and new ────────────────────────────────────────────────

main:   ldi   rh, handler

        say   "r6 and r7: "
        ldi   r6, 1234
        ldi   r7, 5678
        call  show_both
        say   "after swap: "
        swap  6, 7              ; r6, r7
        call  show_both

        say   "bits of 1234 that are 1: "
        count 1, 7              ; r1, r7
        call  show

        say   "square root of 1234: "
        root  1, 7
        call  show

        say   "square root of 65535: "
        ldi   r2, 65535
        root  1, 2
        call  show

        halt                    ; trap 0: the handler lets it be

show_both:
        enter
        mov   r1, r6
        call  print_unsigned
        emit  ' '
        mov   r1, r7
        call  print_unsigned
        emit  '\n'
        leave

show:   enter
        call  print_unsigned
        emit  '\n'
        leave

; ── The handler: the machine, continued ──────────────────────────────────────────────────

FRAME_PC   = 32
FRAME_ZERO = 30                 ; where register 0 would be; register n is 2n below

handler:
        cmpi  r1, 1             ; an invalid instruction?
        jne   .stop
        load  r6, rs, FRAME_PC
        load  r1l, r6, 0        ; the opcode that nobody knew
        cmpb  r1l, 0x3E
        jez   .say              ; it has a text in place of registers

        load  r2l, r6, 1        ; the two register numbers, four bits each
        ldi   r3l, 15
        and   r7b, r2l, r3l     ; writing r7b clears the rest of r7: a wide at once
        call  .place
        mov   r8, r7            ; the place of b,
        ldi   r3l, 4
        lsr   r7b, r2l, r3l
        call  .place            ; and of a
        load  r9, r8, 0

        cmpb  r1l, 0x3B
        jez   .swap
        cmpb  r1l, 0x3C
        jez   .count
        cmpb  r1l, 0x3D
        jez   .root
.stop:  halt                    ; truly unknown, or the end of the program

.swap:  load  r1, r7, 0
        store r7, 0, r9
        store r8, 0, r1
        jmp   .next

.count: mov   r1, r0
        ldi   r2, 1
        cmp   r9, r0
.bit:   jez   .counted
        add   r1, r1, r2
        sub   r3, r9, r2        ; x and (x - 1) has one 1 less than x,
        and   r9, r9, r3        ; so this goes round once for each 1
        jmp   .bit
.counted:
        store r7, 0, r1
        jmp   .next

.root:  mov   r1, r0            ; take off the odd numbers 1, 3, 5, … while they last:
        ldi   r2, 1             ; the first n of them add up to n²
        ldi   r3, 2
        ldi   r4, 1
.odd:   sub   r9, r9, r2
        jb    .rooted
        add   r1, r1, r4
        add   r2, r2, r3
        jmp   .odd
.rooted:
        store r7, 0, r1

.next:  addi  r6, 2             ; behind the instruction
.back:  store rs, FRAME_PC, r6
        reth

.say:   mov   r1, r6
        addi  r1, 1             ; behind the opcode …
        call  puts
        mov   r6, r1            ; … and `puts` stops on the zero byte
        addi  r6, 1
        jmp   .back

; The address of register number r7 in the frame, in r7. Only for use above: with nothing
; else on the stack.
.place: add   r7, r7, r7
        sub   r7, rs, r7
        addi  r7, FRAME_ZERO
        ret
