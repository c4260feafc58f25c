"""One RISC-V instruction at a time on Unicorn, which is QEMU's translator as a library.

A line of the input is a machine before a step, in hexadecimal: the program counter, the code there, and x1 to x31.
A line of the output is the machine after it: the program counter, x1 to x31, and the bytes of memory that changed; or
a dash, if the instruction could not be done. The argument is the width of a register.
"""

import sys

from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, UC_MODE_RISCV64, Uc, UcError, riscv_const

SIZE = 0x10000
# What memory holds everywhere, as the test has it.
FILL = bytes((at * 7 + (at >> 8) * 13) & 0xFF for at in range(SIZE))
REGISTERS = [riscv_const.UC_RISCV_REG_X0 + number for number in range(1, 32)]

mode = UC_MODE_RISCV32 if sys.argv[1] == "32" else UC_MODE_RISCV64
machine = Uc(UC_ARCH_RISCV, mode)
machine.mem_map(0, SIZE)
machine.mem_write(0, FILL)
for line in sys.stdin:
    pc, code, *values = line.split()
    pc, code = int(pc, 16), bytes.fromhex(code)
    machine.mem_write(pc, code)
    machine.ctl_flush_tb()
    for register, value in zip(REGISTERS, values):
        machine.reg_write(register, int(value, 16))
    try:
        machine.emu_start(pc, SIZE * 2, count=1)
        after = [machine.reg_read(riscv_const.UC_RISCV_REG_PC)]
        after += [machine.reg_read(register) for register in REGISTERS]
        machine_text = " ".join(f"{value:x}" for value in after)
    except UcError:
        machine_text = "-"
    before = FILL[:pc] + code + FILL[pc + len(code) :]
    memory = bytes(machine.mem_read(0, SIZE))
    if memory != before:
        changes = (at for at in range(SIZE) if memory[at] != before[at])
        machine_text += "".join(f" {at:x}:{memory[at]:x}" for at in changes)
    machine.mem_write(0, FILL)
    print(machine_text)
