.machine stack8b
; fibonacci.asm: every Fibonacci number that fits in 8 bits
;
; Two numbers on the stack; `swp`, `ldo 1` and `add` turn a b into b, a + b. The sum that no
; longer fits sets the carry. There is no instruction to look at the carry, but `sbc` takes
; it off: 0 - 0 - carry is 0 or FF, a truth value (`carried`, in the library).
;
;   lathe run machines/stack8b/programs/fibonacci.asm
;
; on the stack: this number and the next

        .include "lib.asm"

        x0
        x1                      ; a b
next:   ldo 1
        call print
        emit '\n'
        swp
        ldo 1
        add                     ; b a+b
        carried
        unless next
        drp                     ; too large, but b is still to be printed
        call print
        emit '\n'
        htl

        print_here
