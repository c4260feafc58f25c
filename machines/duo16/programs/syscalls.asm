.machine duo16
; syscalls.asm: a very small operating system, and a program that lives under it
;
; `halt` does not stop the machine: it traps. With a handler in rh, everything about the
; program is pushed onto the stack, pc and registers and flags, and the handler runs. So
; `halt` can serve as the system call. The program puts a number in r1 and an argument in
; r2; the handler finds the number in the saved frame (r1 itself holds the trap's number),
; and looks up the routine in a table. A result goes into the frame: `reth` loads every
; register from there, so what is stored at the place of r1 is the program's r1 afterwards.
;
; The handler need not save anything: whatever it does to the registers is undone by `reth`.
; And a call number that does not exist, or a trap that was no call, is answered, too.
;
;   lathe run machines/duo16/programs/syscalls.asm
;
; the program:  r1 call number, then result    r2 argument    r6 r7 its own
; the handler:  whatever it likes
;
; input: "Ada Lovelace\n"
; expect: output
; | What is your name?
; | Hello, Ada Lovelace!
; | Your name has 12 characters.
; | Call 99 says -1
; | The program has crashed with trap 2

        .include "lib.asm"      ; only the system uses it

; The calls. Each line is its number; the system's table below has the same order.
EXIT    = 0                     ; ends everything
PUTC    = 1                     ; prints the character r2
PUTS    = 2                     ; prints the text at r2
PUTN    = 3                     ; prints the number r2
GETC    = 4                     ; r1 = the next byte of input, or -1 at its end
CALLS   = 5

.macro system number            ; a system call
        ldi   r1, number
        halt
.endm

; ── The system ───────────────────────────────────────────────────────────────────────────

; The frame as the handler sees it, from rs on.
FRAME_R1 = 28

main:   ldi   rh, handler
        jmp   program

handler:
        cmp   r1, r0            ; trap 0 is `halt`: a call
        jnz   crash
        load  r3, rs, FRAME_R1
        cmpi  r3, CALLS
        jae   unknown
        add   r3, r3, r3        ; an address has two bytes
        load  r3, r3, table
        mov   r1, r2            ; the argument, where the library wants it
        jmp   r3

table:  .word exit, putc, puts_call, putn, getc

exit:   halt                    ; with the trap flag set, `halt` stops the machine

putc:   store r0, CONSOLE, r1l
        reth

puts_call:
        call  puts              ; uses rl and registers: the frame has the program's
        reth

putn:   call  print_signed
        reth

getc:   ldi   r2, -1
        load  r1l, r0, STATUS
        cmp   r1l, r0b
        jez   result
        mov   r2, r0            ; the whole register, not only its lower half
        load  r2l, r0, CONSOLE
result: store rs, FRAME_R1, r2  ; the program's r1
        reth

unknown:
        ldi   r2, -1
        jmp   result

crash:  push  r1                ; an invalid instruction, or a division by zero
        ldi   r1, crashed
        call  puts
        pop   r1
        call  print_unsigned
        emit  '\n'
        halt                    ; it gets no second chance

crashed:
        .asciiz "The program has crashed with trap "

; ── The program ──────────────────────────────────────────────────────────────────────────
; It knows nothing of the console or of the library: only the calls.

program:
        ldi   r2, question
        system PUTS
        ldi   r6, 0             ; characters so far: only r1 is changed by a call
        ldi   r7, 1
        ldi   r8, name.last - name

letter: system GETC
        mov   r2, r1            ; `mov` is an `or`, and sets the flags:
        jlt   enough            ; -1, the end
        ldi   r3, '\n'
        cmp   r2, r3
        jez   enough
        store r6, name, r2l
        add   r6, r6, r7
        cmp   r6, r8
        jb    letter

enough: cmp   r6, r0
        jnz   greet
        system EXIT             ; a stranger

greet:  ldi   r2, hello
        system PUTS
        ldi   r2, name
        system PUTS
        ldi   r2, length_1
        system PUTS
        mov   r2, r6
        system PUTN
        ldi   r2, length_2
        system PUTS

        system 99               ; no such call: the answer is -1
        mov   r2, r1
        system PUTN
        ldi   r2, '\n'
        system PUTC

        div   r1, r2, r6, r0    ; and a mistake: it cannot hurt the system

question:
        .asciiz "What is your name?\n"
hello:  .asciiz "Hello, "
length_1:
        .asciiz "!\nYour name has "
length_2:
        .asciiz " characters.\nCall 99 says "
name:   .space 32
.last:  .byte 0
