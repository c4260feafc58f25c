; interrupts.asm: counts while the printer prints
;
;   lathe run machines/pdp8/programs/interrupts.asm
;
; The idea: when a character is printed, the printer interrupts: the machine stores the program counter in word 0 and
; goes on at word 1. There the next character is sent, and the program that was interrupted knows nothing of it.
;
; expect: output "Printed by interrupts.\n"

.machine pdp8

        .org 0
        .cell 0                 ; where it was
        jmp i vector
vector: .cell handler

        .org 200
main:   tad text
        dca at
        tfl                     ; as if something had been printed
        ion
count:  isz counted
        nop
        tad i at
        sza cla
        jmp count
        iof
        hlt

handler: dca saved              ; interrupts are off now
        ral                     ; the link, too
        dca link
        tcf
        tad i at
        sna
        jmp .done
        tls
        isz at
.done:  cla cll
        tad link
        rar
        tad saved
        ion
        jmp i 0

at:     .cell 0
counted: .cell 0
saved:  .cell 0
link:   .cell 0
text:   .cell letters
letters: .asciiz "Printed by interrupts.\n"
