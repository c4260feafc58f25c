.machine duo16
; sort.asm: quicksort of signed numbers
;
; Take the last number as the pivot. Walk over the others, and move each that is smaller to
; the front part. Put the pivot between the parts: it is in its place for good. Then do the
; same with each part. Numbers are compared with `jge`, which takes them as signed; their
; addresses with `jae`, which takes them as unsigned. That is all the difference there is.
;
;   lathe run machines/duo16/programs/sort.asm
;
; quicksort: r6  first number's address    r7  last number's address
;            r8  where the next small one goes, and finally the pivot's place
;            r1  walks    r2  the pivot    r3 r4  two numbers    r9  2, a number's size
;
; expect: output
; | before: 170 -45 75 -32768 90 802 24 2 66 -1 32767 0 75 -300 8 19
; | after:  -32768 -300 -45 -1 0 2 8 19 24 66 75 75 90 170 802 32767

        .include "lib.asm"

main:   ldi   r1, before
        call  puts
        call  show
        ldi   r6, numbers
        ldi   r7, numbers.end - 2
        ldi   r9, 2
        call  quicksort
        ldi   r1, after
        call  puts
        call  show
        halt

; quicksort: sorts the numbers from r6 to r7, both included.
quicksort:
        cmp   r6, r7
        jae   .single           ; one number or none is sorted
        load  r2, r7, 0         ; the pivot
        mov   r8, r6
        mov   r1, r6
.walk:  load  r3, r1, 0
        cmp   r3, r2
        jge   .large
        load  r4, r8, 0         ; a small one: swap it to the front
        store r8, 0, r3
        store r1, 0, r4
        add   r8, r8, r9
.large: add   r1, r1, r9
        cmp   r1, r7
        jb    .walk
        load  r4, r8, 0         ; the pivot goes between the parts
        store r8, 0, r2
        store r7, 0, r4

        push  rl                ; the front part; what is needed after it is kept
        push  r7
        push  r8
        sub   r7, r8, r9
        call  quicksort
        pop   r8
        pop   r7
        pop   rl
        add   r6, r8, r9        ; the back part; nothing is needed after it, so jump: its
        jmp   quicksort         ; `ret` is ours
.single:
        ret

; show: prints all numbers on a line.
show:   enter
        ldi   r6, numbers
.next:  load  r1, r6, 0
        call  print_signed
        addi  r6, 2
        cmpi  r6, numbers.end
        jae   .done
        emit  ' '
        jmp   .next
.done:  emit  '\n'
        leave

before: .asciiz "before: "
after:  .asciiz "after:  "

numbers:
        .word 170, -45, 75, -32768, 90, 802, 24, 2, 66, -1, 32767, 0, 75, -300, 8, 19
.end:
