//! From a block to operations.

use std::collections::HashMap;

use lathe_isa::model::RegisterId;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::block::{Block, VALUES};
use super::ops::{Code, EntryId, Op, SLOTS, Slot, Way};
use crate::dataflow::{Bail, Graph, Node, Store, ValueId};

/// Registers that an instruction set may have to be lowered.
const REGISTERS: usize = SLOTS / 4;

/// Slots that hold numbers, shared by all blocks.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    first: usize,
    found: HashMap<u64, Slot>,
    pub(super) values: Vec<u64>,
}

impl Constants {
    pub(super) fn new(registers: usize) -> Constants {
        Constants { first: registers + 2 * VALUES, found: HashMap::new(), values: Vec::new() }
    }

    /// Whether a block may not find room for its numbers, although there was room once.
    pub(super) fn are_full(&self) -> bool {
        !self.values.is_empty() && self.first + self.values.len() + VALUES > SLOTS
    }

    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.values.clear();
    }

    /// The slots of the numbers and what they hold.
    pub(super) fn slots(&self) -> impl Iterator<Item = (usize, u64)> {
        (self.first..).zip(self.values.iter().copied())
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

/// Where a block goes on, as entries; with each, whether that is not further up.
pub(super) enum Ways {
    Goto(EntryId, bool),
    Branch(ValueId, (EntryId, bool), (EntryId, bool)),
    /// At this address; the number of the computed jump.
    Jump(ValueId, u32),
}

/// Lowers a block; `None` if it is too large.
pub(super) fn lower(block: &Block, ways: &Ways, constants: &mut Constants) -> Option<Vec<Op>> {
    let registers = block.before.registers.len();
    if registers > REGISTERS {
        return None;
    }
    let mut lowering = Lowering {
        graph: &block.graph,
        needed: needed(block, ways),
        slots: vec![None; block.graph.len()],
        temporaries: registers,
        constants,
        ops: Vec::new(),
    };
    for (step, index) in block.steps.iter().zip(0..) {
        for load in &step.loads {
            if lowering.needed[load.index()] {
                lowering.slot(*load)?;
            }
        }
        step.bails.iter().try_for_each(|bail| lowering.bail(bail, index))?;
        step.stores.iter().try_for_each(|store| lowering.store(store))?;
    }
    if block.graph.as_constant(block.cycles) != Some(0) {
        let cycles = lowering.slot(block.cycles)?;
        lowering.push(Code::Cycles, 0, cycles, 0, 0);
    }
    lowering.finish(block, ways)?;
    Some(lowering.ops)
}

/// The registers that a block changes, with their new values.
fn changed_registers(block: &Block) -> impl Iterator<Item = (RegisterId, ValueId)> {
    let ids = (0..).map(RegisterId).zip(block.after().registers.iter().copied());
    ids.filter(|(id, value)| block.before.registers[id.index()] != *value)
}

/// The values that something is made of.
fn needed(block: &Block, ways: &Ways) -> Vec<bool> {
    let mut needed = vec![false; block.graph.len()];
    let mut see = |value: ValueId| needed[value.index()] = true;
    changed_registers(block).for_each(|(_, value)| see(value));
    for step in &block.steps {
        for bail in &step.bails {
            match bail {
                Bail::When(condition) => see(*condition),
                Bail::Marked(address, guard) => [Some(*address), *guard].into_iter().flatten().for_each(&mut see),
            }
        }
        for store in &step.stores {
            [Some(store.address), Some(store.value), store.guard].into_iter().flatten().for_each(&mut see);
        }
    }
    see(block.cycles);
    match ways {
        Ways::Branch(value, ..) | Ways::Jump(value, _) => see(*value),
        Ways::Goto(..) => {}
    }
    // Operands come before what is made from them, so one pass backwards reaches all.
    for value in block.graph.ids().rev() {
        if needed[value.index()] {
            block.graph.operands(value).for_each(|operand| needed[operand.index()] = true);
        }
    }
    needed
}

struct Lowering<'a> {
    graph: &'a Graph,
    needed: Vec<bool>,
    /// Where each value is, once it has been computed.
    slots: Vec<Option<Slot>>,
    /// The next slot for a value.
    temporaries: usize,
    constants: &'a mut Constants,
    ops: Vec<Op>,
}

impl Lowering<'_> {
    /// The slot of a value, which is computed if it was not yet.
    fn slot(&mut self, id: ValueId) -> Option<Slot> {
        if let Some(slot) = self.slots[id.index()] {
            return Some(slot);
        }
        let slot = match self.graph.node(id) {
            Node::Constant(value) => self.constants.slot(value)?,
            Node::Register(register) => register.index() as Slot,
            Node::ZeroExtend(x) => self.slot(x)?,
            node => self.compute(id, node)?,
        };
        self.slots[id.index()] = Some(slot);
        Some(slot)
    }

    /// A slot for a value, if there is still room.
    fn temporary(&mut self) -> Option<Slot> {
        self.temporaries += 1;
        (self.temporaries <= self.constants.first).then_some((self.temporaries - 1) as Slot)
    }

    fn compute(&mut self, id: ValueId, node: Node) -> Option<Slot> {
        let width = self.graph.width(id);
        let (code, x, y, extra) = match node {
            Node::Load(memory, address, _) => (Code::Load, self.slot(address)?, 0, memory.index() as u64),
            Node::Unary(UnaryOperator::Not, x) => (Code::Not, self.slot(x)?, 0, width.mask()),
            Node::Unary(operator, x) => (Code::Unary(operator), self.slot(x)?, 0, u64::from(width.bits())),
            Node::Binary(operator, x, y) => {
                let (code, extra) = binary_code(operator, self.graph.width(x));
                (code, self.slot(x)?, self.slot(y)?, extra)
            }
            Node::Slice(x, low) => (Code::Slice, self.slot(x)?, low as Slot, width.mask()),
            Node::Join(high, low) => {
                (Code::Join, self.slot(high)?, self.slot(low)?, u64::from(self.graph.width(low).bits()))
            }
            Node::SignExtend(x) => (Code::SignExtend, self.slot(x)?, self.graph.width(x).bits() as Slot, width.mask()),
            Node::Choose(condition, x, y) => {
                (Code::Choose, self.slot(x)?, self.slot(y)?, u64::from(self.slot(condition)?))
            }
            Node::Constant(_) | Node::Register(_) | Node::ZeroExtend(_) => return None,
        };
        let into = self.temporary()?;
        self.push(code, into, x, y, extra);
        Some(into)
    }

    fn push(&mut self, code: Code, into: Slot, x: Slot, y: Slot, extra: u64) {
        self.ops.push(Op { code, into, x, y, extra });
    }

    fn bail(&mut self, bail: &Bail, index: u64) -> Option<()> {
        match bail {
            Bail::When(condition) => {
                let condition = self.slot(*condition)?;
                self.push(Code::LeaveIf, 0, condition, 0, index);
            }
            Bail::Marked(address, guard) => {
                let address = self.slot(*address)?;
                let guard = match guard {
                    Some(guard) => self.slot(*guard)?,
                    None => self.constants.slot(1)?,
                };
                self.push(Code::LeaveIfMarked, 0, address, guard, index);
            }
        }
        Some(())
    }

    fn store(&mut self, store: &Store) -> Option<()> {
        let (address, value) = (self.slot(store.address)?, self.slot(store.value)?);
        let memory = store.memory.index() as u64;
        if let Some(guard) = store.guard {
            let guard = self.slot(guard)?;
            self.push(Code::StoreIf, guard, address, value, memory);
            return Some(());
        }
        // The check of its cell just before it is done with it.
        let checked = self.ops.last().is_some_and(|last| {
            last.code == Code::LeaveIfMarked && last.x == address && self.constants.found.get(&1) == Some(&last.y)
        });
        match self.ops.pop_if(|_| checked) {
            Some(check) => self.push(Code::StoreUnmarked, check.extra as Slot, address, value, memory),
            None => self.push(Code::Store, 0, address, value, memory),
        }
        Some(())
    }

    /// Writes the registers and goes on.
    fn finish(&mut self, block: &Block, ways: &Ways) -> Option<()> {
        let changed: Vec<(RegisterId, ValueId)> = changed_registers(block).collect();
        let is_changed = |slot: Slot| changed.iter().any(|(register, _)| register.index() == usize::from(slot));
        let mut sources = Vec::new();
        for (_, value) in &changed {
            sources.push(self.slot(*value)?);
        }
        let mut end = self.end(block.steps.len() as u64, ways)?;
        // A register that is copied or tested is saved if it gets a new value before that.
        let tested = tested_slots(&mut end).into_iter();
        for source in sources.iter_mut().chain(tested) {
            if is_changed(*source) {
                let saved = self.temporary()?;
                self.push(Code::Move, saved, *source, 0, 0);
                *source = saved;
            }
        }
        for ((register, _), source) in changed.iter().zip(sources) {
            self.push(Code::Move, register.index() as Slot, source, 0, 0);
        }
        self.ops.push(end);
        fuse_writes(&mut self.ops, block.before.registers.len());
        Some(())
    }

    fn end(&mut self, count: u64, ways: &Ways) -> Option<Op> {
        let op = |code, way: Way, x, y, extra| Op { code, into: way.0, x, y, extra };
        Some(match ways {
            Ways::Goto(entry, back) => op(Code::Goto, Way::new(count, *back, false), 0, 0, u64::from(*entry)),
            Ways::Jump(target, jump) => {
                let target = self.slot(*target)?;
                op(Code::Jump, Way::new(count, true, false), target, 0, u64::from(*jump))
            }
            Ways::Branch(condition, taken, other) => {
                let (code, x, y, inverse) = self.condition(*condition)?;
                let (taken, other) = if inverse { (other, taken) } else { (taken, other) };
                let way = Way::new(count, other.1, taken.1);
                op(code, way, x, y, u64::from(taken.0) << 32 | u64::from(other.0))
            }
        })
    }

    /// How a condition is tested, and whether it is the inverse that is.
    fn condition(&mut self, condition: ValueId) -> Option<(Code, Slot, Slot, bool)> {
        Some(match self.graph.node(condition) {
            Node::Unary(UnaryOperator::Not, inner) => {
                let (code, x, y, inverse) = self.condition(inner)?;
                (code, x, y, !inverse)
            }
            Node::Binary(BinaryOperator::Equal, x, y) => (Code::BranchIfEqual, self.slot(x)?, self.slot(y)?, false),
            Node::Binary(BinaryOperator::Unequal, x, y) => (Code::BranchIfEqual, self.slot(x)?, self.slot(y)?, true),
            Node::Binary(BinaryOperator::Less, x, y) => (Code::BranchIfLess, self.slot(x)?, self.slot(y)?, false),
            Node::Slice(x, low) => (Code::BranchIfBit, self.slot(x)?, low as Slot, false),
            _ => (Code::BranchIf, self.slot(condition)?, 0, false),
        })
    }
}

fn binary_code(operator: BinaryOperator, operands: lathe_base::Width) -> (Code, u64) {
    let mask = operands.mask();
    match operator {
        BinaryOperator::Add => (Code::Add, mask),
        BinaryOperator::Subtract => (Code::Subtract, mask),
        BinaryOperator::And => (Code::And, 0),
        BinaryOperator::Or => (Code::Or, 0),
        BinaryOperator::Xor => (Code::Xor, 0),
        BinaryOperator::Equal => (Code::Equal, 0),
        BinaryOperator::Unequal => (Code::Unequal, 0),
        BinaryOperator::Less => (Code::Less, 0),
        other => (Code::Binary(other), u64::from(operands.bits())),
    }
}

/// The slots that the end of a block looks at.
fn tested_slots(end: &mut Op) -> Vec<&mut Slot> {
    match end.code {
        Code::BranchIfEqual | Code::BranchIfLess => vec![&mut end.x, &mut end.y],
        Code::BranchIf | Code::BranchIfBit | Code::Jump => vec![&mut end.x],
        _ => Vec::new(),
    }
}

/// Lets an operation write a register itself, instead of a move at the end, where nothing in
/// between could see the difference and the block is not left in between.
fn fuse_writes(ops: &mut Vec<Op>, registers: usize) {
    let mut at = 0;
    while at < ops.len() {
        let Op { code, into, x, .. } = ops[at];
        at += 1;
        if code != Code::Move || usize::from(into) >= registers || usize::from(x) < registers {
            continue;
        }
        let Some(maker) = ops[..at - 1].iter().rposition(|op| gives_value(op.code) && op.into == x) else { continue };
        let between = ops[maker + 1..at - 1].iter();
        let seen = |op: &Op| reads(op, into) || leaves(op.code) || (gives_value(op.code) && op.into == into);
        let seen_after = ops[at..].iter().any(|op| reads(op, into));
        if between.clone().any(seen) || seen_after {
            continue;
        }
        ops[maker].into = into;
        at -= 1;
        ops.remove(at);
        ops[maker + 1..].iter_mut().for_each(|op| replace_reads(op, x, into));
    }
}

fn gives_value(code: Code) -> bool {
    use Code::*;
    match code {
        Move | Add | Subtract | And | Or | Xor | Not | Equal | Unequal | Less | Unary(_) | Binary(_) | Slice | Join
        | SignExtend | Choose | Load => true,
        Store | StoreIf | StoreUnmarked | LeaveIf | LeaveIfMarked | Cycles | Goto | BranchIf | BranchIfEqual
        | BranchIfLess | BranchIfBit | Jump | Interpret | Decode => false,
    }
}

fn leaves(code: Code) -> bool {
    matches!(code, Code::LeaveIf | Code::LeaveIfMarked | Code::StoreUnmarked)
}

/// Which of its fields are slots that an operation reads.
fn read_fields(code: Code) -> (bool, bool) {
    use Code::*;
    match code {
        Goto | Interpret | Decode => (false, false),
        Move | Not | Unary(_) | Slice | SignExtend | Load | LeaveIf | Cycles | BranchIf | BranchIfBit | Jump => {
            (true, false)
        }
        Add | Subtract | And | Or | Xor | Equal | Unequal | Less | Binary(_) | Join | Choose | Store | StoreIf
        | StoreUnmarked | LeaveIfMarked | BranchIfEqual | BranchIfLess => (true, true),
    }
}

fn reads(op: &Op, slot: Slot) -> bool {
    let (x, y) = read_fields(op.code);
    let third = match op.code {
        Code::Choose => op.extra == u64::from(slot),
        Code::StoreIf => op.into == slot,
        _ => false,
    };
    (x && op.x == slot) || (y && op.y == slot) || third
}

fn replace_reads(op: &mut Op, from: Slot, to: Slot) {
    let (x, y) = read_fields(op.code);
    if x && op.x == from {
        op.x = to;
    }
    if y && op.y == from {
        op.y = to;
    }
    if op.code == Code::Choose && op.extra == u64::from(from) {
        op.extra = u64::from(to);
    }
    if op.code == Code::StoreIf && op.into == from {
        op.into = to;
    }
}
