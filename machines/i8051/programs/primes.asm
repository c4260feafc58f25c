; primes.asm: the primes below 200, with a sieve in external memory
;
;   lathe run machines/i8051/programs/primes.asm
;
; The idea: a cell for each number, 0 as long as nothing divides it. movx reaches external memory
; through dptr, whose high half stays 0.
;
; expect: output "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 101 103 107 109 113 127 131 137 139 149 151 157 163 167 173 179 181 191 193 197 199 \n"

.machine i8051

LIMIT   = 200

main:   mov r7, #2              ; the number
next:   mov dph, #0
        mov dpl, r7
        movx a, @dptr
        jnz divided
        mov a, r7
        acall put_dec
        mov a, #' '
        acall putc
mark:   mov a, #1
        movx @dptr, a
        mov a, dpl
        add a, r7
        mov dpl, a
        jc divided              ; beyond 255
        cjne a, #LIMIT, compare
compare: jc mark                ; below the limit
divided: inc r7
        cjne r7, #LIMIT, next
        acall newline
        sjmp $

        .include "lib.asm"
