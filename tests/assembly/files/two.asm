.include "one.asm"              ; !A406 `one.asm` includes itself: one.asm → two.asm → one.asm
