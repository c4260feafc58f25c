//! From the graph of one instruction to operations.

use std::collections::HashMap;

use lathe_base::Width;
use lathe_isa::model::RegisterId;
use lathe_isa::operators::BinaryOperator;

use super::ops::{Code, EntryId, HERE, Op, Slot};
use crate::dataflow::{Bail, Effects, Frame, Graph, Node, Store, ValueId};

/// How many values one instruction may have.
pub(super) const VALUES: usize = 1024;
/// How many slots there may be in all.
const SLOTS: usize = u16::MAX as usize;

/// Slots that hold numbers, shared by all instructions.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    first: usize,
    found: HashMap<u64, Slot>,
    pub(super) values: Vec<u64>,
}

impl Constants {
    pub(super) fn new(registers: usize) -> Constants {
        Constants { first: registers + VALUES, found: HashMap::new(), values: Vec::new() }
    }

    /// The slot of a number, if there is still room.
    fn slot(&mut self, value: u64) -> Option<Slot> {
        if let Some(slot) = self.found.get(&value) {
            return Some(*slot);
        }
        let slot = self.first + self.values.len();
        if slot >= SLOTS {
            return None;
        }
        self.values.push(value);
        self.found.insert(value, slot as Slot);
        Some(slot as Slot)
    }
}

/// Which way a jump goes; only jumps that do not go up can close a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up = 0,
    Back = 1,
}

/// Where an instruction goes on.
pub(super) enum End {
    Next(EntryId),
    Goto(EntryId, Direction),
    Branch(ValueId, (EntryId, Direction), (EntryId, Direction)),
    Jump(ValueId),
}

/// Lowers one instruction; `None` if it is too large.
pub(super) fn lower(
    graph: &Graph,
    before: &Frame,
    effects: &Effects,
    end: End,
    entry: EntryId,
    constants: &mut Constants,
) -> Option<Vec<Op>> {
    let registers = before.registers.len();
    if registers > VALUES / 2 {
        return None;
    }
    let mut lowering = Lowering { graph, before, registers, constants, slots: HashMap::new(), ops: Vec::new() };
    lowering.values(effects, &end)?;
    effects.bails.iter().try_for_each(|bail| lowering.bail(bail, entry))?;
    effects.stores.iter().try_for_each(|store| lowering.store(store))?;
    lowering.cycles(effects.cycles)?;
    let taken = lowering.ops.len();
    lowering.writes(effects)?;
    lowering.end(end, entry)?;
    fuse_writes(&mut lowering.ops, taken, registers);
    fuse_next(&mut lowering.ops);
    Some(lowering.ops)
}

struct Lowering<'a> {
    graph: &'a Graph,
    before: &'a Frame,
    registers: usize,
    constants: &'a mut Constants,
    slots: HashMap<ValueId, Slot>,
    ops: Vec<Op>,
}

impl Lowering<'_> {
    /// Computes every value that is needed, in the order of the graph.
    fn values(&mut self, effects: &Effects, end: &End) -> Option<()> {
        let mut needed = vec![false; self.graph.len()];
        for value in roots(self.before, effects, end) {
            needed[value.index()] = true;
        }
        let all: Vec<ValueId> = self.graph.ids().collect();
        // Operands come before what is made from them, so one pass backwards reaches all.
        for value in all.iter().rev() {
            if needed[value.index()] {
                self.graph.operands(*value).for_each(|operand| needed[operand.index()] = true);
            }
        }
        all.into_iter().filter(|value| needed[value.index()]).try_for_each(|value| self.value(value))
    }

    fn value(&mut self, id: ValueId) -> Option<()> {
        let slot = match self.graph.node(id) {
            Node::Constant(value) => self.constants.slot(value)?,
            Node::Register(register) => register.index() as Slot,
            Node::ZeroExtend(x) => self.slots[&x],
            node => {
                let temporary = self.registers + self.slots.len();
                if self.slots.len() >= VALUES {
                    return None;
                }
                self.compute(id, node, temporary as Slot)?;
                temporary as Slot
            }
        };
        self.slots.insert(id, slot);
        Some(())
    }

    fn compute(&mut self, id: ValueId, node: Node, into: Slot) -> Option<()> {
        let width = self.graph.width(id);
        let slots = &self.slots;
        let op = |code, x: ValueId, y: Option<ValueId>, width: Width, extra| {
            let (x, y) = (slots[&x], y.map_or(0, |y| slots[&y]));
            Op { code, width, into, x, y, next: HERE, extra }
        };
        let op = match node {
            Node::Load(memory, address, _) => op(Code::Load, address, None, width, memory.index() as u64),
            Node::Unary(operator, x) => op(Code::Unary(operator), x, None, width, 0),
            Node::Binary(operator, x, y) => {
                let operands = self.graph.width(x);
                op(binary_code(operator), x, Some(y), operands, operands.mask())
            }
            Node::Slice(x, low) => Op { y: low as Slot, ..op(Code::Slice, x, None, width, width.mask()) },
            Node::Join(high, low) => op(Code::Join, high, Some(low), width, u64::from(self.graph.width(low).bits())),
            Node::SignExtend(x) => op(Code::SignExtend, x, None, self.graph.width(x), width.mask()),
            Node::Choose(condition, x, y) => op(Code::Choose, x, Some(y), width, u64::from(slots[&condition])),
            Node::Constant(_) | Node::Register(_) | Node::ZeroExtend(_) => return None,
        };
        self.ops.push(op);
        Some(())
    }

    fn push(&mut self, code: Code, into: Slot, x: Slot, y: Slot, extra: u64) {
        self.ops.push(Op { code, width: Width::BIT, into, x, y, next: HERE, extra });
    }

    fn bail(&mut self, bail: &Bail, entry: EntryId) -> Option<()> {
        match bail {
            Bail::When(condition) => self.push(Code::BailIf, 0, self.slots[condition], 0, u64::from(entry)),
            Bail::Marked(address, guard) => {
                let guard = match guard {
                    Some(guard) => self.slots[guard],
                    None => self.constants.slot(1)?,
                };
                self.push(Code::BailMarked, 0, self.slots[address], guard, u64::from(entry));
            }
        }
        Some(())
    }

    fn store(&mut self, store: &Store) -> Option<()> {
        let (address, value) = (self.slots[&store.address], self.slots[&store.value]);
        let memory = store.memory.index() as u64;
        match store.guard {
            Some(guard) => self.push(Code::StoreIf, self.slots[&guard], address, value, memory),
            None => self.push(Code::Store, 0, address, value, memory),
        }
        Some(())
    }

    fn cycles(&mut self, cycles: ValueId) -> Option<()> {
        if self.graph.as_constant(cycles) != Some(0) {
            self.push(Code::Cycles, 0, self.slots[&cycles], 0, 0);
        }
        Some(())
    }

    /// Writes the registers. A register that is only copied is saved first, because its own
    /// write may come before the copy.
    fn writes(&mut self, effects: &Effects) -> Option<()> {
        let changed: Vec<(RegisterId, ValueId)> = changed_registers(self.before, effects).collect();
        let mut sources = Vec::new();
        for (count, (_, value)) in changed.iter().enumerate() {
            let source = self.slots[value];
            if usize::from(source) < self.registers {
                let saved = self.registers + VALUES - 1 - count;
                if self.slots.len() + count >= VALUES {
                    return None;
                }
                self.push(Code::Move, saved as Slot, source, 0, 0);
                sources.push(saved as Slot);
            } else {
                sources.push(source);
            }
        }
        for ((register, _), source) in changed.into_iter().zip(sources) {
            self.push(Code::Move, register.index() as Slot, source, 0, 0);
        }
        Some(())
    }

    fn end(&mut self, end: End, entry: EntryId) -> Option<()> {
        match end {
            End::Next(next) => self.push(Code::Next, 0, 0, 0, u64::from(next)),
            End::Goto(target, direction) => self.push(Code::Goto, direction as Slot, 0, 0, u64::from(target)),
            End::Branch(condition, taken, other) => {
                let condition = self.saved(condition)?;
                let directions = (taken.1 as Slot) << 1 | other.1 as Slot;
                self.push(Code::Branch, directions, condition, 0, u64::from(taken.0) << 32 | u64::from(other.0));
            }
            End::Jump(target) => {
                let target = self.saved(target)?;
                self.push(Code::Jump, 0, target, 0, u64::from(entry));
            }
        }
        Some(())
    }

    /// The slot of a value that is used after the registers were written: a register's own slot
    /// would show the new value, so it is copied before them.
    fn saved(&mut self, value: ValueId) -> Option<Slot> {
        let slot = self.slots[&value];
        if usize::from(slot) >= self.registers {
            return Some(slot);
        }
        let saved = (self.registers + VALUES - 1 - self.registers) as Slot;
        if self.slots.len() + self.registers + 1 >= VALUES {
            return None;
        }
        let op = Op { code: Code::Move, width: Width::BIT, into: saved, x: slot, y: 0, next: HERE, extra: 0 };
        let at = self.ops.iter().position(|op| usize::from(op.into) < self.registers && writes_slot(op.code));
        self.ops.insert(at.unwrap_or(self.ops.len()), op);
        Some(saved)
    }
}

/// The registers that an instruction changes, with their new values.
fn changed_registers(before: &Frame, effects: &Effects) -> impl Iterator<Item = (RegisterId, ValueId)> {
    let ids = (0..).map(RegisterId).zip(effects.frame.registers.iter().copied());
    ids.filter(|(id, value)| before.registers[id.index()] != *value)
}

fn roots(before: &Frame, effects: &Effects, end: &End) -> Vec<ValueId> {
    let mut roots: Vec<ValueId> = changed_registers(before, effects).map(|(_, value)| value).collect();
    for bail in &effects.bails {
        match bail {
            Bail::When(condition) => roots.push(*condition),
            Bail::Marked(address, guard) => roots.extend([Some(*address), *guard].into_iter().flatten()),
        }
    }
    for store in &effects.stores {
        roots.extend([Some(store.address), Some(store.value), store.guard].into_iter().flatten());
    }
    roots.push(effects.cycles);
    match end {
        End::Branch(value, ..) | End::Jump(value) => roots.push(*value),
        End::Next(_) | End::Goto(..) => {}
    }
    roots
}

fn binary_code(operator: BinaryOperator) -> Code {
    match operator {
        BinaryOperator::Add => Code::Add,
        BinaryOperator::Subtract => Code::Subtract,
        BinaryOperator::And => Code::And,
        BinaryOperator::Or => Code::Or,
        BinaryOperator::Xor => Code::Xor,
        BinaryOperator::Equal => Code::Equal,
        BinaryOperator::Less => Code::Less,
        other => Code::Binary(other),
    }
}

/// Lets an operation write a register itself, instead of a move after it, where nothing in
/// between could see the difference. `taken` is the first operation after the effects.
fn fuse_writes(ops: &mut Vec<Op>, taken: usize, registers: usize) {
    let mut at = taken;
    while at < ops.len() {
        let Op { code, into, x, .. } = ops[at];
        if code == Code::Move && usize::from(into) < registers && usize::from(x) >= registers {
            let maker = ops[..at].iter().rposition(|op| writes_slot(op.code) && op.into == x);
            let seen = |op: &Op| reads(op, into) || reads(op, x) || is_leaving(op.code) || writes_to(op, into);
            let free = maker.filter(|maker| !ops[maker + 1..at].iter().any(seen));
            let unused_after = !ops[at + 1..].iter().any(|op| reads(op, x));
            if let Some(maker) = free.filter(|_| unused_after) {
                ops[maker].into = into;
                ops.remove(at);
                continue;
            }
        }
        at += 1;
    }
}

/// Lets the last operation that gives a value go on to the next instruction by itself.
fn fuse_next(ops: &mut Vec<Op>) {
    if let [.., last, Op { code: Code::Next, extra, .. }] = &mut ops[..]
        && writes_slot(last.code)
    {
        last.next = *extra as EntryId;
        ops.pop();
    }
}

fn writes_slot(code: Code) -> bool {
    use Code::*;
    matches!(
        code,
        Move | Add
            | Subtract
            | And
            | Or
            | Xor
            | Equal
            | Less
            | Unary(_)
            | Binary(_)
            | Slice
            | Join
            | SignExtend
            | Choose
            | Load
    )
}

fn writes_to(op: &Op, slot: Slot) -> bool {
    writes_slot(op.code) && op.into == slot
}

fn is_leaving(code: Code) -> bool {
    matches!(code, Code::BailIf | Code::BailMarked)
}

fn reads(op: &Op, slot: Slot) -> bool {
    use Code::*;
    match op.code {
        Next | Goto | Interpret | Decode => false,
        Move | Unary(_) | Slice | SignExtend | Load | BailIf | Cycles | Branch | Jump => op.x == slot,
        Choose => op.x == slot || op.y == slot || op.extra == u64::from(slot),
        StoreIf => op.x == slot || op.y == slot || op.into == slot,
        _ => op.x == slot || op.y == slot,
    }
}
