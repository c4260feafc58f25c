.machine hex8
; An error inside a macro names the value that is wrong, and every use that led to it.
.macro inner value
        loadimm r1, value
.endm
.macro outer value
        inner value + 1         ; !A303 256 does not fit in 8 bits
.endm
        outer 255
