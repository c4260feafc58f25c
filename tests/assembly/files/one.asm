.include "two.asm"
