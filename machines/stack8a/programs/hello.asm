.machine stack8a
; hello.asm: writes "Hello, world!" into memory
;
; There is nothing to print on. What a run leaves behind is its memory, and there the
; greeting shall be found. A push stores a byte and moves `sp` down by one: so pushing the
; letters from the last to the first is the whole program. At the end `sp` is the address of
; the text, and the byte above 0xFF, where the stack began, is where it ends.
;
;   lathe run machines/stack8a/programs/hello.asm
;
; data 0xF3 … 0xFF  the text      sp  its beginning
;
; expect: data[0xF3] = 72, 101, 108, 108, 111, 44, 32, 119, 111, 114, 108, 100, 33
; expect: sp = 243

        psh '!'
        psh 'd'
        psh 'l'
        psh 'r'
        psh 'o'
        psh 'w'
        psh ' '
        psh ','
        psh 'o'
        psh 'l'
        psh 'l'
        psh 'e'
        psh 'H'
        htl
