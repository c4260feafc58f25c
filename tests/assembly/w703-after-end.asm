.machine lc3
        .orig x3000
Again   br AGAIN                ; one label: this machine does not mind the case
        .end
        br nowhere              ; !W703 this line comes after
        br nowhere              ; said once
        .ORIG x4000
        .fill again
        .end

; a comment may stand here
