.machine hex8
        laodimm r1, 5           ; !A301 hex8 has no instruction `laodimm`
        frobnicate              ; !A301 hex8 has no instruction `frobnicate`
