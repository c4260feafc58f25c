.machine mos6502
; What a dialect does not make right.
        code
again   = 1
again   = 2
label   nop
label   = 3                     ; !A202 `label` is defined twice
fixed   := 1
fixed   := 2                    ; !A202 `fixed` is defined twice
        clx                     ; !A301 mos6502 has no instruction `clx`
        lda #lo                 ; !A201 `lo` is not defined
        equ 5                   ; !A402 expected a name and a value
        segment "NOWHERE"       ; !A402 mos6502 has no memory `NOWHERE`
        endm                    ; !A403 `.endm` has no `.macro` before it
        ifdef                   ; !A402 expected a name
        nop
        endif
one     macro
        lda #\1                 ; !A302 expected an 8-bit number, found the end of the line
        endm
        one
        if again = 2
        jmp label
        endif
