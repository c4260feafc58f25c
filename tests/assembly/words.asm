; words that cannot stand together
.machine pdp8

        cla cll iac
        ral cla rar             ; !A302 `rar` cannot stand together with `ral`
        cla sza iac             ; !A302 `iac` cannot stand together with `cla sza`
        cia cma                 ; !A302 `cma` adds nothing to the other words
        cla cla                 ; !A302 `cla` adds nothing to the other words
        rtl ral                 ; !A302 `ral` cannot stand together with `rtl`
        tad 19                  ; !A102 this is not an octal number
        hlt
