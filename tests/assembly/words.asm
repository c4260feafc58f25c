; words that cannot stand together
.machine pdp8

        cla cll iac
        ral cla rar
        cla sza iac
        cia cma
        cla cla
        rtl ral
        tad 19
        hlt
