.machine hex8
        .bite 5                 ; !A401 there is no directive `.bite`
        .frobnicate             ; !A401 there is no directive `.frobnicate`
