.machine duo16
; tasks.asm: three programs at the same time
;
; A trap puts the whole program onto its stack: pc, flags, registers. So a program that is
; not running is nothing but a stack pointer. Give each program a stack of its own, and the
; handler can switch between them with a single move: it notes the rs of the one that
; stopped, takes the rs of the next, and `reth` brings that one back to life as if nothing
; had happened.
;
; `halt` with r1 = 0 means "let the others go on" here, and with r1 = 1 "I am done". The one
; thing that takes care is the first time: a program that has never run has no frame on its
; stack. `start` makes one by hand, with the pc at its beginning. The program that does all
; this at the start is simply the first task.
;
;   lathe run machines/duo16/programs/tasks.asm
;
; each task  uses registers as it likes: nobody else's are there
; table      one wide for each task: its rs while it waits, or 0 when it is done
; turn       the task that runs, as an offset into the table
;
; expect: output "a 1 * b 4 ** c 9 *** d 16 **** e 25 f 36 g h \n"

        .include "lib.asm"

TASKS   = 3
STACK   = 256                   ; bytes of stack for each task

FRAME    = 34                   ; bytes in a frame; in it, counted from rs:
FRAME_RH = 0
FRAME_RS = 8
FRAME_R1 = 28
FRAME_PC = 32

.macro yield                    ; lets the others go on
        ldi   r1, 0
        halt
.endm

.macro finish                   ; never comes back
        ldi   r1, 1
        halt
.endm

; ── The tasks ────────────────────────────────────────────────────────────────────────────

; The first task starts the two others, then prints the letters from a to h.
main:   ldi   rh, handler
        ldi   r1, 1 * 2
        ldi   r2, squares
        ldi   r3, stacks + 1 * STACK
        call  start
        ldi   r1, 2 * 2
        ldi   r2, stars
        ldi   r3, stacks + 2 * STACK
        call  start
        ldi   r6, 'a'
.next:  store r0, CONSOLE, r6b
        emit  ' '
        yield
        addi  r6, 1
        cmpi  r6, 'h'
        jbe   .next
        finish

; The second prints squares.
squares:
        ldi   r6, 1
.next:  mul   r1, r2, r6, r6
        call  print_unsigned
        emit  ' '
        yield
        addi  r6, 1
        cmpi  r6, 6
        jbe   .next
        finish

; The third prints one star, then two, then three, then four.
stars:  ldi   r6, 1
.next:  mov   r7, r6
.star:  emit  '*'
        subi  r7, 1
        jnz   .star
        emit  ' '
        yield
        addi  r6, 1
        cmpi  r6, 4
        jbe   .next
        finish

; ── The scheduler ────────────────────────────────────────────────────────────────────────

; start: gives task r1, an offset into the table, a frame that begins at r2, on the empty
; stack that ends below r3.
start:  mov   r4, r3
        subi  r4, FRAME         ; as if the frame had been pushed
        store r4, FRAME_PC, r2
        store r4, FRAME_RS, r3  ; `reth` takes rs from the frame, too,
        ldi   r5, handler       ; and rh
        store r4, FRAME_RH, r5
        store r1, table, r4
        ret

handler:
        cmp   r1, r0            ; a real mistake?
        jnz   .stop
        mov   r4, rs
        load  r3, rs, FRAME_R1  ; what the task had in r1
        cmp   r3, r0
        jez   .waits
        mov   r4, r0            ; it is done
.waits: load  r2, r0, turn
        store r2, table, r4

        ldi   r3, TASKS         ; look at each once, this one last
.look:  addi  r2, 2
        cmpi  r2, TASKS * 2
        jb    .fine
        mov   r2, r0            ; around
.fine:  load  r4, r2, table
        cmp   r4, r0
        jnz   .go
        subi  r3, 1
        jnz   .look
        emit  '\n'              ; nobody is left
.stop:  halt

.go:    store r0, turn, r2
        mov   rs, r4            ; here the tasks change
        reth

turn:   .word 0                 ; the first task is running already
table:  .fill TASKS * 2, 0
stacks: .space (TASKS - 1) * STACK      ; the first task has the machine's own
