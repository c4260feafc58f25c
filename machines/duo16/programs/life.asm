.machine duo16
; life.asm: Conway's Life, with Gosper's glider gun
;
; Two ideas carry this program.
;
; A position is one register. r1l is the column, r1h the row, and r1 as a whole is the
; offset of the cell, since each row has a page of 256 bytes to itself. Going left or right
; touches r1l only and never carries into r1h; an `and` makes the edges meet.
;
; A cell is one byte: bit 0 says that it lives, and above it its neighbours are counted, in
; twos. Most cells are dead, so nobody looks around for neighbours: instead each living cell
; adds 2 to the eight around it. A cell with two living neighbours that lives itself is then
; 5; with three it is 6 or 7. So whoever has 5, 6 or 7 lives on, and nobody else does.
;
; The gun needs 30 generations for each new glider; the picture is shown every 30.
;
;   lathe run machines/duo16/programs/life.asm
;
; r1  position: r1l column, r1h row     r2l 1, r2h 2, for byte arithmetic
; r3l last column, r3h last row         r4l a cell
; r6  generation                        r7b height    r8b width
; GRID: 32 pages from 0x1000 on, of which the first 64 bytes are cells

CONSOLE = 0xFFE0
GRID    = 0x1000
WIDTH   = 64                    ; powers of two, so that an `and` can wrap
HEIGHT  = 32
SHOW    = 30                    ; a picture every so many generations
LAST    = 60

        ldi   r2l, 1
        ldi   r2h, 2
        ldi   r3l, WIDTH - 1
        ldi   r3h, HEIGHT - 1
        ldi   r8b, WIDTH
        ldi   r7b, HEIGHT
        call  draw
        ldi   r6, 0

picture:
        call  show
        ldi   r1, LAST
        cmp   r6, r1
        jae   end
again:  call  tell
        call  judge
        ldi   r1, 1
        add   r6, r6, r1
        ldi   r4, SHOW
        div   r1, r4, r6, r4    ; is it time for a picture? r4: the remainder
        cmp   r4, r0
        jez   picture
        jmp   again
end:    halt

; Goes to the next cell, row by row; falls through after the last.
.macro next_cell loop
        add   r1l, r1l, r2l
        cmp   r1l, r8b
        jb    loop
        mov   r1l, r0b
        add   r1h, r1h, r2l
        cmp   r1h, r7b
        jb    loop
.endm

; Goes one step in a direction, around the edge if need be, and tells the cell there that
; it has a living neighbour.
.macro step direction, coordinate, last
        direction coordinate, coordinate, r2l
        and   coordinate, coordinate, last
        load  r4l, r1, GRID
        add   r4l, r4l, r2h
        store r1, GRID, r4l
.endm

; tell: every living cell tells its eight neighbours.
tell:   mov   r1, r0
.cell:  load  r4l, r1, GRID
        and   r4l, r4l, r2l
        jez   .next
        push  r1
        sub   r1l, r1l, r2l     ; to the left first (which is told on the way back) …
        and   r1l, r1l, r3l
        step  sub, r1h, r3h     ; … then up and once around
        step  add, r1l, r3l
        step  add, r1l, r3l
        step  add, r1h, r3h
        step  add, r1h, r3h
        step  sub, r1l, r3l
        step  sub, r1l, r3l
        step  sub, r1h, r3h
        pop   r1
.next:  next_cell .cell
        ret

; judge: makes each 5, 6 and 7 a living cell, and all else a dead one.
judge:  mov   r1, r0
        ldi   r5l, 5
.cell:  load  r4l, r1, GRID
        cmp   r4l, r0b
        jez   .next             ; dead, with nobody around: by far the most
        sub   r4l, r4l, r5l     ; 5 6 7 become 0 1 2, and below 5 becomes very large
        cmp   r4l, r2h
        ldi   r4l, 0            ; not `mov r4l, r0b`: that is an `or`, and sets flags
        ja    .dead
        ldi   r4l, 1
.dead:  store r1, GRID, r4l
.next:  next_cell .cell
        ret

; draw: copies the picture at the end of the program into the grid.
draw:   mov   r1, r0
        ldi   r4, gun
        ldi   r9, 1
.next:  load  r5l, r4, 0
        add   r4, r4, r9
        cmp   r5l, r0b
        jez   .done
        ldi   r5h, '\n'
        cmp   r5l, r5h
        jez   .line
        and   r5l, r5l, r2l     ; '#' is odd and '.' is even: bit 0 is the cell
        store r1, GRID, r5l
        add   r1l, r1l, r2l
        jmp   .next
.line:  mov   r1l, r0b
        add   r1h, r1h, r2l
        jmp   .next
.done:  ret

; show: prints the grid, and a line of `=` below it.
show:   mov   r1, r0
        ldi   r5h, '\n'
.cell:  load  r4l, r1, GRID
        ldi   r5l, '.'
        cmp   r4l, r0b
        jez   .dead
        ldi   r5l, '#'
.dead:  store r0, CONSOLE, r5l
        cmp   r1l, r3l
        jne   .next
        store r0, CONSOLE, r5h  ; the last column ends the line
.next:  next_cell .cell

        ldi   r5l, '='
        mov   r1, r0
.rule:  store r0, CONSOLE, r5l
        add   r1l, r1l, r2l
        cmp   r1l, r8b
        jb    .rule
        store r0, CONSOLE, r5h
        ret

gun:    .ascii "\n"
        .ascii ".........................#\n"
        .ascii ".......................#.#\n"
        .ascii ".............##......##............##\n"
        .ascii "............#...#....##............##\n"
        .ascii ".##........#.....#...##\n"
        .ascii ".##........#...#.##....#.#\n"
        .ascii "...........#.....#.......#\n"
        .ascii "............#...#\n"
        .asciiz ".............##\n"

        .assert $ <= GRID, "the program has grown into the grid"
