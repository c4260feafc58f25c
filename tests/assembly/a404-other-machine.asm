.machine hex8
.machine quad8                  ; !A404 this program is for `quad8`, but it is being assembled for `hex8`
