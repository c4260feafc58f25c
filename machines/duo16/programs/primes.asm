.machine duo16
; primes.asm: the primes below 1000, with the sieve of Eratosthenes
;
; One byte for each number, 0 at first: "not crossed out". For each number that is still
; clean, a prime, cross out its multiples, from its square on: the smaller ones have a
; smaller factor and are out already. `mul` helps to see when squares leave the table: it
; sets the carry if the product has an upper half.
;
;   lathe run machines/duo16/programs/primes.asm
;
; r6  the number being looked at    r7  a multiple of it
; r8  how many primes so far        r9  1

LIMIT   = 1000

        .include "lib.asm"

main:   ldi   r6, 2
        ldi   r8, 0
        ldi   r9, 1

number: load  r1l, r6, sieve    ; sieve is the offset, r6 the index
        cmp   r1l, r0b
        jnz   next              ; crossed out
        add   r8, r8, r9
        call  show

        mul   r7, r2, r6, r6    ; r2 the upper half
        jc    next              ; the square is above 65535
cross:  cmpi  r7, LIMIT
        jae   next
        store r7, sieve, r9b    ; r9b: one byte; a store of r9 would write two
        add   r7, r7, r6
        jmp   cross

next:   add   r6, r6, r9
        cmpi  r6, LIMIT
        jb    number

        emit  '\n'
        mov   r1, r8
        call  print_unsigned
        ldi   r1, words
        call  puts
        halt

; show: prints the prime r6, ten to a line. r8 counts them.
show:   enter
        mov   r1, r6
        ldi   r2, 5
        call  print_padded
        ldi   r2, 10
        div   r1, r2, r8, r2
        cmp   r2, r0
        jnz   .done
        emit  '\n'
.done:  leave

words:  .asciiz " primes below 1000\n"

sieve:  .space LIMIT            ; a byte for each number, 0 while it may be prime
