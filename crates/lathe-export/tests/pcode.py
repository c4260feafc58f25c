"""Compiles an exported processor module with Ghidra's own SLEIGH compiler, lifts instructions with it, executes the
p-code, and compares with what the reference interpreter did. Reads one JSON object from standard input; prints every
disagreement and ends with 1 if there is one."""
import json
import os
import re
import subprocess
import sys

import pypcode
from pypcode import OpCode

SIGNED = {OpCode.INT_SDIV, OpCode.INT_SREM, OpCode.INT_SLESS, OpCode.INT_SLESSEQUAL}


def signed(value, size):
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def towards_zero(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


BINARY = {
    OpCode.INT_ADD: lambda x, y: x + y,
    OpCode.INT_SUB: lambda x, y: x - y,
    OpCode.INT_MULT: lambda x, y: x * y,
    OpCode.INT_DIV: lambda x, y: x // y,
    OpCode.INT_REM: lambda x, y: x % y,
    OpCode.INT_SDIV: towards_zero,
    OpCode.INT_SREM: lambda x, y: x - y * towards_zero(x, y),
    OpCode.INT_AND: lambda x, y: x & y,
    OpCode.INT_OR: lambda x, y: x | y,
    OpCode.INT_XOR: lambda x, y: x ^ y,
    OpCode.INT_LEFT: lambda x, y: x << y if y < 512 else 0,
    OpCode.INT_RIGHT: lambda x, y: x >> y,
    OpCode.INT_EQUAL: lambda x, y: int(x == y),
    OpCode.INT_NOTEQUAL: lambda x, y: int(x != y),
    OpCode.INT_LESS: lambda x, y: int(x < y),
    OpCode.INT_LESSEQUAL: lambda x, y: int(x <= y),
    OpCode.INT_SLESS: lambda x, y: int(x < y),
    OpCode.INT_SLESSEQUAL: lambda x, y: int(x <= y),
    OpCode.BOOL_AND: lambda x, y: x & y,
    OpCode.BOOL_OR: lambda x, y: x | y,
    OpCode.BOOL_XOR: lambda x, y: x ^ y,
    OpCode.SUBPIECE: lambda x, y: x >> 8 * y,
}


class Machine:
    """Spaces of bytes, as p-code sees them."""

    def __init__(self, big, units, sizes, contents):
        self.big, self.units, self.sizes, self.contents = big, units, sizes, contents
        self.spaces = {}

    def byte(self, space, at):
        own = self.spaces.setdefault(space, {})
        if at in own or space not in self.contents:
            return own.get(at, 0)
        unit = self.units[space]
        cells = self.contents[space]
        cell = cells[at // unit] if at // unit < len(cells) else 0
        rank = unit - 1 - at % unit if self.big else at % unit
        return cell >> 8 * rank & 255

    def wrapped(self, space, at):
        """After the last byte of a memory comes its first."""
        return at % self.sizes[space] if space in self.sizes else at

    def get(self, space, at, size):
        data = bytes(self.byte(space, self.wrapped(space, at + i)) for i in range(size))
        return int.from_bytes(data, "big" if self.big else "little")

    def put(self, space, at, size, value):
        data = (value % (1 << 8 * size)).to_bytes(size, "big" if self.big else "little")
        own = self.spaces.setdefault(space, {})
        for i, byte in enumerate(data):
            own[self.wrapped(space, at + i)] = byte

    def value(self, node):
        if node.space.name == "const":
            return node.offset % (1 << 8 * node.size)
        return self.get(node.space.name, node.offset, node.size)

    def run(self, ops, code_space, following):
        """Executes the operations of one instruction; gives the address of the next, or None for a special one."""
        at = 0
        while at < len(ops):
            op = ops[at]
            at += 1
            kind, inputs = op.opcode, op.inputs
            if kind == OpCode.IMARK:
                continue
            if kind == OpCode.CALLOTHER:
                return None
            if kind in (OpCode.BRANCH, OpCode.CBRANCH, OpCode.CALL):
                if kind == OpCode.CBRANCH and self.value(inputs[1]) == 0:
                    continue
                target = inputs[0]
                if target.space.name == "const":
                    at += signed(target.offset % (1 << 8 * target.size), target.size) - 1
                    continue
                return target.offset // self.units[code_space]
            if kind in (OpCode.BRANCHIND, OpCode.CALLIND, OpCode.RETURN):
                return self.value(inputs[0])
            if kind == OpCode.LOAD:
                space = inputs[0].getSpaceFromConst().name
                result = self.get(space, self.value(inputs[1]) * self.units[space], op.output.size)
            elif kind == OpCode.STORE:
                space = inputs[0].getSpaceFromConst().name
                self.put(space, self.value(inputs[1]) * self.units[space], inputs[2].size, self.value(inputs[2]))
                continue
            elif kind in (OpCode.COPY, OpCode.INT_ZEXT):
                result = self.value(inputs[0])
            elif kind == OpCode.INT_SEXT:
                result = signed(self.value(inputs[0]), inputs[0].size)
            elif kind == OpCode.INT_NEGATE:
                result = ~self.value(inputs[0])
            elif kind == OpCode.INT_2COMP:
                result = -self.value(inputs[0])
            elif kind == OpCode.BOOL_NEGATE:
                result = 1 - self.value(inputs[0])
            elif kind == OpCode.INT_SRIGHT:
                result = signed(self.value(inputs[0]), inputs[0].size) >> self.value(inputs[1])
            else:
                values = [self.value(node) for node in inputs]
                if kind in SIGNED:
                    values = [signed(value, node.size) for value, node in zip(values, inputs)]
                result = BINARY[kind](*values)
            self.put(op.output.space.name, op.output.offset, op.output.size, result)
        return following


def words(text):
    """The words, marks and numbers of an instruction, whatever the blanks and the base. Ghidra shows `-4` after a `+`."""
    found = re.findall(r"0x[0-9a-f]+|(?<![\w])\d+(?![\w])|\w+|[^\s\w]", text.lower().replace("+-", "-"))
    return [str(int(word, 0)) if re.fullmatch(r"0x[0-9a-f]+|\d+", word) else word for word in found]


def main():
    told = json.load(sys.stdin)
    folder, name = told["folder"], told["machine"]
    compiler = os.path.join(os.path.dirname(pypcode.__file__), "bin", "sleigh")
    base = os.path.join(folder, "data", "languages", name)
    made = subprocess.run([compiler, base + ".slaspec", base + ".sla"], capture_output=True, text=True)
    errors = [line for line in (made.stdout + made.stderr).splitlines() if "ERROR" in line]
    if made.returncode != 0 or errors:
        print("\n".join(errors[:10]) or made.stdout + made.stderr)
        return 1
    arch = pypcode.Arch(name, base + ".ldefs")
    context = pypcode.Context(arch.languages[0])
    units = {memory["name"]: memory["unit"] for memory in told["memories"]}
    sizes = {memory["name"]: memory["bytes"] for memory in told["memories"]}
    contents = {memory["name"]: memory["cells"] for memory in told["memories"]}
    code, big, executed, wrong = told["code"], told["big"], 0, 0

    def complain(case, message):
        nonlocal wrong
        wrong += 1
        if wrong <= 10:
            print(f"{case['text']} ({case['cells']} at {case['pc']:#x}): {message}")

    for case in told["cases"]:
        data = b"".join(cell.to_bytes(units[code], "big" if big else "little") for cell in case["cells"])
        address = case["pc"] * units[code]
        try:
            shown = context.disassemble(data, base_address=address, max_instructions=1).instructions[0]
            ops = context.translate(data, base_address=address, max_instructions=1).ops
        except Exception as error:
            complain(case, f"{type(error).__name__} {error}")
            continue
        if shown.length != len(data):
            complain(case, f"has {shown.length} bytes for SLEIGH")
        if case["comparable"] and words(f"{shown.mnem} {shown.body}") != words(case["text"]):
            complain(case, f"is shown as {shown.mnem} {shown.body}")
        machine = Machine(big, units, sizes, contents)
        for at, cell in enumerate(case["cells"]):
            machine.put(code, address + at * units[code], units[code], cell)
        for register, value in case["before"].items():
            node = context.registers[register]
            machine.put("register", node.offset, node.size, value)
        following = machine.run(list(ops), code, case["next"])
        if following is None:
            continue
        executed += 1
        if following != case["after"]:
            complain(case, f"goes to {following:#x}, not {case['after']:#x}")
        for register, value in case["registers"].items():
            node = context.registers[register]
            found = machine.get("register", node.offset, node.size)
            if found != value:
                complain(case, f"{register} is {found:#x}, not {value:#x}")
        for memory, cell, value in case["stores"]:
            found = machine.get(memory, cell * units[memory], units[memory])
            if found != value:
                complain(case, f"{memory}[{cell:#x}] is {found:#x}, not {value:#x}")
    print(f"{name}: {len(told['cases'])} instructions, {executed} executed, {wrong} wrong")
    return 1 if wrong or executed == 0 else 0


sys.exit(main())
