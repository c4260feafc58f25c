//! From a block to operations.

use std::collections::HashMap;

use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, RegisterId};
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::block::{Block, End, Side};
use super::fuse::{fuse_writes, leaves};
use super::ops::{Code, EntryId, NEAR_MEMORIES, Op, REGISTERS, SLOTS, Shape, Slot, Ways};
use super::wide::{Cells, WideStore, WideValue, Words, wide_store, words};
use crate::dataflow::{Bail, Effects, Frame, Graph, Node, Store, ValueId, mapped_spans};

/// Slots for numbers, shared by all blocks. Where they are used up, blocks set slots of their own.
const CONSTANTS: usize = 64;

/// The numbers in slots that are shared by all blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    found: HashMap<u64, Slot>,
    values: Vec<u64>,
}

impl Constants {
    pub(super) fn clear(&mut self) {
        *self = Constants::default();
    }

    /// The slots of the numbers and what they hold.
    pub(super) fn slots(&self) -> impl Iterator<Item = (usize, u64)> {
        (SLOTS - CONSTANTS..).zip(self.values.iter().copied())
    }

    /// The slot of a number, if there is still room.
    fn slot(&mut self, value: u64) -> Option<Slot> {
        if let Some(slot) = self.found.get(&value) {
            return Some(*slot);
        }
        if self.values.len() == CONSTANTS {
            return None;
        }
        let slot = (SLOTS - CONSTANTS + self.values.len()) as Slot;
        self.values.push(value);
        self.found.insert(value, slot);
        Some(slot)
    }
}

/// What addresses and computed jumps are called in operations.
pub(super) trait Names {
    /// The entry of an address.
    fn entry(&mut self, address: u64) -> EntryId;
    /// The entry of an address for a block that assumes nothing.
    fn careful_entry(&mut self, address: u64) -> EntryId;
    /// The computed jump at an address.
    fn jump(&mut self, address: u64) -> u32;
}

/// Lowers a block; `None` if it is too large.
pub(super) fn lower(isa: &Isa, block: &Block, names: &mut dyn Names, constants: &mut Constants) -> Option<Vec<Op>> {
    let uses = uses(block);
    let mut lowering = Lowering {
        isa,
        graph: &block.graph,
        before: &block.before,
        words: words(&block.graph, &uses),
        uses,
        slots: vec![None; block.graph.len()],
        trail: Vec::new(),
        temporaries: block.before.registers.len().min(REGISTERS),
        names,
        constants,
        pending: Vec::new(),
        spans: mapped_spans(isa, isa.pc.memory),
        mapped: Vec::new(),
        ops: Vec::new(),
        exits: Vec::new(),
    };
    lowering.assume(block)?;
    let mut so_far = (&block.before, None);
    for (step, count) in block.steps.iter().zip(0..) {
        lowering.loads(&step.effects.loads)?;
        let leaving = Leaving { frame: so_far.0, cycles: so_far.1, count, way: Way::Interpret(step.pc) };
        lowering.bails_and_stores(&step.effects, &leaving)?;
        so_far = (&step.effects.frame, Some(step.cycles));
        if let Some(side) = &step.side {
            lowering.side(side, so_far.0, count + 1, step.pc)?;
        }
    }
    let (frame, cycles) = so_far;
    let way = Way::End(block.end, block.last());
    lowering.finish(&Leaving { frame, cycles, count: block.steps.len() as u8, way })?;
    lowering.together()
}

/// The registers that change on the way to a frame, with their new values.
fn changed_registers(before: &Frame, frame: &Frame) -> Vec<(RegisterId, ValueId)> {
    let ids = (0..).map(RegisterId).zip(frame.registers.iter().copied());
    ids.filter(|(id, value)| before.registers[id.index()] != *value).collect()
}

/// How often each value is used, wherever the block is left.
fn uses(block: &Block) -> Vec<u32> {
    let mut uses = vec![0; block.graph.len()];
    let mut see = |value: ValueId| uses[value.index()] += 1;
    for step in &block.steps {
        step.effects.frame.registers.iter().copied().for_each(&mut see);
        for bail in &step.effects.bails {
            match bail {
                Bail::When(condition) => see(*condition),
                Bail::Marked(address, guard) => [Some(*address), *guard].into_iter().flatten().for_each(&mut see),
            }
        }
        for store in &step.effects.stores {
            [Some(store.address), Some(store.value), store.guard].into_iter().flatten().for_each(&mut see);
        }
        see(step.cycles);
        step.side.iter().for_each(|side| [side.condition, side.cycles].into_iter().for_each(&mut see));
    }
    match block.end {
        End::Branch(value, ..) | End::Jump(value) => see(value),
        End::Goto(..) => {}
    }
    // Operands come before what is made from them, so one pass backwards reaches all.
    for value in block.graph.ids().rev() {
        if uses[value.index()] > 0 {
            block.graph.operands(value).for_each(|operand| uses[operand.index()] += 1);
        }
    }
    uses
}

/// How a block is left, and with what.
struct Leaving<'a> {
    frame: &'a Frame,
    cycles: Option<ValueId>,
    /// How many instructions were done.
    count: u8,
    way: Way,
}

/// Where execution goes on.
#[derive(Clone, Copy)]
enum Way {
    /// The instruction at this address is interpreted.
    Interpret(u64),
    /// At the first address, from the second.
    Goto(u64, u64),
    /// As the block ends, whose last instruction is at this address.
    End(End, u64),
}

/// An address as an operation has it.
struct Address {
    mode: Mode,
    x: Slot,
    low: Slot,
    extra: u64,
}

/// How a memory is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    Bytes,
    Words,
    /// Not at hand.
    Far,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In a slot.
    Plain,
    /// A slot plus an offset.
    Offset,
    /// A slot above another.
    Joined,
}

struct Lowering<'a> {
    isa: &'a Isa,
    graph: &'a Graph,
    before: &'a Frame,
    /// How often each value is used.
    uses: Vec<u32>,
    words: Words,
    /// Where each value is, once it has been computed.
    slots: Vec<Option<Slot>>,
    /// The values that have been computed, in order.
    trail: Vec<ValueId>,
    /// The next slot for a value.
    temporaries: usize,
    names: &'a mut dyn Names,
    constants: &'a mut Constants,
    /// Stores that nobody has to see yet. Those into the code memory are never among them.
    pending: Vec<Store>,
    /// What is mapped over the code memory.
    spans: Vec<(u64, u64)>,
    /// Addresses of the instruction that were looked up there, as values plus numbers.
    mapped: Vec<(ValueId, u64)>,
    ops: Vec<Op>,
    /// The operations for leaving the block here and there. While it is lowered, operations that may leave
    /// it have the number of one of these.
    exits: Vec<Vec<Op>>,
}

impl Lowering<'_> {
    /// The slot of a value, which is computed if it was not yet.
    fn slot(&mut self, id: ValueId) -> Option<Slot> {
        if let Some(slot) = self.slots[id.index()] {
            return Some(slot);
        }
        let slot = match self.graph.node(id) {
            Node::Constant(value) => self.number(value)?,
            Node::Register(register) if register.index() < REGISTERS => register.index() as Slot,
            Node::ZeroExtend(x) => self.slot(x)?,
            node => self.compute(id, node)?,
        };
        self.slots[id.index()] = Some(slot);
        self.trail.push(id);
        Some(slot)
    }

    /// A slot with a number.
    fn number(&mut self, value: u64) -> Option<Slot> {
        if let Some(slot) = self.constants.slot(value) {
            return Some(slot);
        }
        let into = self.temporary()?;
        self.ops.push(Op { into, extra: value, ..Op::new(Code::Set) });
        Some(into)
    }

    /// A slot for a value, if there is still room.
    fn temporary(&mut self) -> Option<Slot> {
        self.temporaries += 1;
        (self.temporaries <= SLOTS - CONSTANTS).then_some((self.temporaries - 1) as Slot)
    }

    fn compute(&mut self, id: ValueId, node: Node) -> Option<Slot> {
        let width = self.graph.width(id);
        let op = match node {
            Node::Load(memory, address, _) => self.load(memory, address)?,
            Node::Unary(UnaryOperator::Not, x) => Op { x: self.slot(x)?, extra: width.mask(), ..Op::new(Code::Not) },
            Node::Unary(operator, x) => {
                Op { x: self.slot(x)?, extra: u64::from(width.bits()), ..Op::new(Code::Unary(operator)) }
            }
            Node::Binary(BinaryOperator::And, x, y) if self.positive(x, y).is_some() => {
                let value = self.positive(x, y)?;
                Op { x: self.slot(value)?, extra: self.graph.width(value).mask() >> 1, ..Op::new(Code::Positive) }
            }
            Node::Binary(operator, x, y) => self.binary(operator, x, y)?,
            Node::Slice(x, low) => Op { x: self.slot(x)?, z: low as u8, extra: width.mask(), ..Op::new(Code::Slice) },
            Node::Join(high, low) => {
                let z = self.graph.width(low).bits() as u8;
                match self.graph.as_constant(low) {
                    Some(extra) => Op { x: self.slot(high)?, z, extra, ..Op::new(Code::JoinNumber) },
                    None => Op { x: self.slot(high)?, y: self.slot(low)?, z, ..Op::new(Code::Join) },
                }
            }
            Node::SignExtend(x) => {
                let z = self.graph.width(x).bits() as u8;
                Op { x: self.slot(x)?, z, extra: width.mask(), ..Op::new(Code::SignExtend) }
            }
            Node::Choose(condition, x, y) => {
                Op { x: self.slot(x)?, y: self.slot(y)?, z: self.slot(condition)?, ..Op::new(Code::Choose) }
            }
            Node::Register(register) => Op { extra: register.index() as u64, ..Op::new(Code::GetRegister) },
            Node::Constant(_) | Node::ZeroExtend(_) => return None,
        };
        let into = self.temporary()?;
        self.ops.push(Op { into, ..op });
        Some(into)
    }

    /// The value of which two conditions together say that it is positive as a two's complement number.
    fn positive(&self, x: ValueId, y: ValueId) -> Option<ValueId> {
        let not_negative = |id| match self.graph.node(id) {
            Node::Unary(UnaryOperator::Not, sign) => self.sign(sign),
            _ => None,
        };
        let not_zero = |id| match self.graph.node(id) {
            Node::Binary(BinaryOperator::Unequal, value, zero) if self.graph.as_constant(zero) == Some(0) => {
                Some(value)
            }
            _ => None,
        };
        let (a, b) = if not_zero(y).is_some() { (x, y) } else { (y, x) };
        not_zero(b).filter(|value| not_negative(a) == Some(*value))
    }

    /// The value of which another is the sign.
    fn sign(&self, id: ValueId) -> Option<ValueId> {
        match self.graph.node(id) {
            Node::Slice(value, low) if low + 1 == self.graph.width(value).bits() => Some(value),
            _ => None,
        }
    }

    /// The value of which two conditions together say that it is zero or positive.
    fn not_negative(&self, x: ValueId, y: ValueId) -> Option<ValueId> {
        let is_zero = |id| match self.graph.node(id) {
            Node::Binary(BinaryOperator::Equal, value, zero) if self.graph.as_constant(zero) == Some(0) => Some(value),
            _ => None,
        };
        let is_positive = |id| match self.graph.node(id) {
            Node::Binary(BinaryOperator::And, x, y) => self.positive(x, y),
            _ => None,
        };
        let (zero, positive) = if is_zero(x).is_some() { (x, y) } else { (y, x) };
        is_zero(zero).filter(|value| is_positive(positive) == Some(*value))
    }

    fn load(&mut self, memory: MemoryId, address: ValueId) -> Option<Op> {
        let keeping = self.keeping(memory);
        let Address { mode, x, low, extra } = self.address(address, keeping, true)?;
        let code = match (keeping, mode) {
            (Keeping::Bytes, Mode::Plain) => Code::Load,
            (Keeping::Bytes, Mode::Offset) => Code::LoadOffset,
            (Keeping::Bytes, Mode::Joined) => Code::LoadJoined,
            (Keeping::Words, Mode::Offset) => Code::LoadWordOffset,
            (Keeping::Words, _) => Code::LoadWord,
            (Keeping::Far, _) => Code::LoadFar,
        };
        Some(Op { x, y: low, z: memory.index() as u8, extra, ..Op::new(code) })
    }

    /// An address in a form that memories kept like this are reached with. One that is not in a slot yet
    /// needs none where the operation can make it.
    fn address(&mut self, address: ValueId, keeping: Keeping, joined: bool) -> Option<Address> {
        let mask = self.graph.width(address).mask();
        let fresh = self.slots[address.index()].is_none() && keeping != Keeping::Far;
        match (self.graph.node(address), self.graph.base_and_offset(address)) {
            (Node::Binary(..), (Some(base), offset)) if fresh && base != address && mask <= u64::from(u32::MAX) => {
                Some(Address { mode: Mode::Offset, x: self.slot(base)?, low: 0, extra: mask << 32 | offset })
            }
            (Node::Join(high, low), _) if fresh && joined && keeping == Keeping::Bytes => {
                let extra = u64::from(self.graph.width(low).bits());
                Some(Address { mode: Mode::Joined, x: self.slot(high)?, low: self.slot(low)?, extra })
            }
            _ => Some(Address { mode: Mode::Plain, x: self.slot(address)?, low: 0, extra: 0 }),
        }
    }

    fn keeping(&self, memory: MemoryId) -> Keeping {
        match memory.index() < NEAR_MEMORIES {
            true if self.isa.memory(memory).cell.bits() <= 8 => Keeping::Bytes,
            true => Keeping::Words,
            false => Keeping::Far,
        }
    }

    fn binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<Op> {
        use BinaryOperator::*;
        let operands = self.graph.width(x);
        let number = self.graph.as_constant(y);
        let mask = operands.mask();
        let x = self.slot(x)?;
        let with_number = match (operator, number) {
            (Add, Some(number)) if mask <= u64::from(u32::MAX) => Some((Code::AddNumber, 0, mask << 32 | number)),
            (And, Some(number)) => Some((Code::AndNumber, 0, number)),
            (Or, Some(number)) => Some((Code::OrNumber, 0, number)),
            (Xor, Some(number)) => Some((Code::XorNumber, 0, number)),
            (Equal, Some(number)) => Some((Code::EqualNumber, 0, number)),
            (Unequal, Some(number)) => Some((Code::UnequalNumber, 0, number)),
            (Less, Some(number)) => Some((Code::LessNumber, 0, number)),
            (LessOrEqual, Some(number)) if number < u64::MAX => Some((Code::LessNumber, 0, number + 1)),
            (ShiftRight, Some(count)) if count < u64::from(operands.bits()) => {
                Some((Code::Slice, count as u8, mask >> count))
            }
            (ShiftLeft, Some(count)) if count < u64::from(operands.bits()) => {
                Some((Code::ShiftLeft, count as u8, mask))
            }
            _ => None,
        };
        if let Some((code, z, extra)) = with_number {
            return Some(Op { x, z, extra, ..Op::new(code) });
        }
        let (code, extra) = match operator {
            Add => (Code::Add, mask),
            Subtract => (Code::Subtract, mask),
            And => (Code::And, 0),
            Or => (Code::Or, 0),
            Xor => (Code::Xor, 0),
            Equal => (Code::Equal, 0),
            Unequal => (Code::Unequal, 0),
            Less => (Code::Less, 0),
            LessOrEqual => (Code::LessOrEqual, 0),
            LessSigned => (Code::LessSigned, 0),
            Multiply => (Code::Multiply, mask),
            ShiftLeft => (Code::ShiftLeftBy, mask),
            ShiftRight => (Code::ShiftRightBy, 0),
            other => (Code::Binary(other), u64::from(operands.bits())),
        };
        Some(Op { x, y: self.slot(y)?, z: 64 - operands.bits() as u8, extra, ..Op::new(code) })
    }

    /// Leaves the block for the one that assumes nothing where an assumption of it does not hold.
    fn assume(&mut self, block: &Block) -> Option<()> {
        for (register, extra) in block.assumptions() {
            let x = Slot::try_from(register.index()).ok()?;
            let entry = self.names.careful_entry(block.steps.first()?.pc);
            self.exits.push(vec![Op { extra: u64::from(entry), ..Op::new(Code::Goto) }]);
            let exit = u16::try_from(self.exits.len() - 1).ok()?;
            self.ops.push(Op { x, exit, extra, ..Op::new(Code::LeaveUnlessNumber) });
        }
        Some(())
    }

    /// Reads the cells that an instruction reads, because stores may change them afterwards.
    fn loads(&mut self, loads: &[ValueId]) -> Option<()> {
        for load in loads.iter().filter(|load| self.uses[load.index()] > 0).copied().collect::<Vec<_>>() {
            if let Node::Load(memory, address, _) = self.graph.node(load) {
                self.store_before_load(memory, address)?;
            }
            let word = self.words.get(&load).copied();
            match word.filter(|(_, cells)| self.keeping(cells.memory) == Keeping::Bytes) {
                Some((word, cells)) => self.load_word(word, &cells)?,
                None => {
                    self.slot(load)?;
                }
            }
        }
        Some(())
    }

    /// Reads a word at once, with the first of its cells.
    fn load_word(&mut self, word: ValueId, cells: &Cells) -> Option<()> {
        if self.slots[word.index()].is_none() {
            self.store_pending(Some(cells.memory))?;
            let op = self.wide(Code::LoadWide, cells)?;
            let into = self.temporary()?;
            self.ops.push(Op { into, ..op });
            self.slots[word.index()] = Some(into);
            self.trail.push(word);
        }
        Some(())
    }

    /// An operation on neighbouring cells.
    fn wide(&mut self, code: Code, cells: &Cells) -> Option<Op> {
        let mask = self.graph.width(cells.base).mask();
        let (x, extra) = (self.slot(cells.base)?, mask << 32 | cells.offset);
        let shape = Shape::new(cells.count, cells.big);
        Some(Op { x, z: cells.memory.index() as u8, exit: shape.0, extra, ..Op::new(code) })
    }

    /// The stores of an instruction and the checks of their cells at once.
    fn store_wide(&mut self, store: &WideStore, exit: u16) -> Option<()> {
        let y = match store.value {
            WideValue::Number(number) => self.number(number)?,
            WideValue::Value(value) => self.slot(value)?,
            WideValue::Pair(high, low) => {
                let (x, y, into) = (self.slot(high)?, self.slot(low)?, self.temporary()?);
                self.ops.push(Op { into, x, y, z: 8, ..Op::new(Code::Join) });
                into
            }
        };
        let op = self.wide(Code::StoreWideUnmarked, &store.cells)?;
        self.ops.push(Op { y, into: op.exit as Slot, exit, ..op });
        Some(())
    }

    /// The conditions to leave one instruction to the reference interpreter, which all leave the block in the
    /// same way, and its stores.
    fn bails_and_stores(&mut self, effects: &Effects, leaving: &Leaving) -> Option<()> {
        let near = self.keeping(self.isa.pc.memory) == Keeping::Bytes;
        if let Some(store) = wide_store(self.graph, effects, self.isa.pc.memory).filter(|_| near) {
            let exit = self.exit(leaving)?;
            self.mapped.clear();
            let others = effects.bails.iter().filter(|bail| matches!(bail, Bail::When(_)));
            others.copied().collect::<Vec<_>>().iter().try_for_each(|bail| self.bail(bail, exit))?;
            return self.store_wide(&store, exit);
        }
        let mut stores = effects.stores.clone();
        if let Some((last, others)) = effects.bails.split_last() {
            let exit = self.exit(leaving)?;
            self.mapped.clear();
            others.iter().try_for_each(|bail| self.bail(bail, exit))?;
            match self.checked_by(last, &stores) {
                Some(at) => self.store_unmarked(&stores.remove(at), exit)?,
                None => self.bail(last, exit)?,
            }
        }
        stores.iter().try_for_each(|store| self.store(store))
    }

    /// The store of an instruction that this checks and that may come before all others.
    fn checked_by(&self, bail: &Bail, stores: &[Store]) -> Option<usize> {
        let Bail::Marked(address, None) = bail else { return None };
        let code = self.isa.pc.memory;
        let is_checked = |store: &Store| store.memory == code && store.address == *address && store.guard.is_none();
        let at = stores.iter().position(is_checked)?;
        let is_apart = |store: &Store| !store.may_reach(self.graph, code, *address);
        (stores[..at].iter().all(is_apart) && self.keeping(code) != Keeping::Far).then_some(at)
    }

    fn bail(&mut self, bail: &Bail, exit: u16) -> Option<()> {
        match bail {
            Bail::When(condition) => match self.mapped_address(*condition) {
                Some((base, offset)) => self.leave_if_mapped(base, offset, exit),
                None => self.leave_if(*condition, true, exit),
            },
            Bail::Marked(address, guard) => self.leave_if_marked(*address, *guard, exit),
        }
    }

    /// The address, as a value plus a number, that a condition says something is mapped over. One look at the
    /// marks answers that for all that is mapped.
    fn mapped_address(&self, condition: ValueId) -> Option<(ValueId, u64)> {
        let Node::Binary(BinaryOperator::LessOrEqual, x, y) = self.graph.node(condition) else { return None };
        let mask = self.graph.width(x).mask();
        let of_code = self.graph.width(x) == self.isa.code_memory().address && mask <= u64::from(u32::MAX);
        let spans = self.spans.iter().filter(|_| of_code);
        if let (Some(least), None) = (self.graph.as_constant(x), self.graph.as_constant(y)) {
            // The span up to the last address.
            spans.clone().find(|(first, last)| *last == mask && *first == least)?;
            let (base, offset) = self.graph.base_and_offset(y);
            return Some((base?, offset));
        }
        let (length, (base, offset)) = (self.graph.as_constant(y)?, self.graph.base_and_offset(x));
        let base = base?;
        let spans = spans.filter(|(first, last)| last - first == length);
        let mut addresses = spans.map(|(first, _)| (base, offset.wrapping_add(*first) & mask));
        // Where several spans are equally long, the address that was looked up already is meant.
        let first = addresses.clone().next();
        addresses.find(|address| self.mapped.contains(address)).or(first)
    }

    fn leave_if_mapped(&mut self, base: ValueId, offset: u64, exit: u16) -> Option<()> {
        let mask = self.graph.width(base).mask();
        let (least, most) = match self.graph.node(base) {
            Node::ZeroExtend(inner) => (offset, offset + self.graph.width(inner).mask()),
            _ => (0, mask),
        };
        let reachable = most > mask || self.spans.iter().any(|(first, last)| *first <= most && least <= *last);
        if !reachable || self.mapped.contains(&(base, offset)) {
            return Some(());
        }
        self.mapped.push((base, offset));
        let x = self.slot(base)?;
        self.ops.push(Op { x, exit, extra: mask << 32 | offset, ..Op::new(Code::LeaveIfMapped) });
        Some(())
    }

    fn leave_if_marked(&mut self, address: ValueId, guard: Option<ValueId>, exit: u16) -> Option<()> {
        let op = match guard {
            Some(guard) => Op { x: self.slot(address)?, y: self.slot(guard)?, ..Op::new(Code::LeaveIfBothMarked) },
            None => {
                let Address { mode, x, extra, .. } = self.address(address, Keeping::Words, false)?;
                let code = if mode == Mode::Offset { Code::LeaveIfMarkedOffset } else { Code::LeaveIfMarked };
                Op { x, extra, ..Op::new(code) }
            }
        };
        self.ops.push(Op { exit, ..op });
        Some(())
    }

    fn side(&mut self, side: &Side, frame: &Frame, count: u8, pc: u64) -> Option<()> {
        let leaving = Leaving { frame, cycles: Some(side.cycles), count, way: Way::Goto(side.target, pc) };
        let exit = self.exit(&leaving)?;
        self.leave_if(side.condition, side.when, exit)
    }

    /// Leaves where the condition is 1, or where it is 0.
    fn leave_if(&mut self, condition: ValueId, when: bool, exit: u16) -> Option<()> {
        let (op, inverse) = self.condition(condition, true)?;
        let [leave_if, leave_unless] = match op.code {
            Code::BranchIfEqual => [Code::LeaveIfEqual, Code::LeaveUnlessEqual],
            Code::EqualNumber => [Code::LeaveIfNumber, Code::LeaveUnlessNumber],
            Code::BranchIfLess => [Code::LeaveIfLess, Code::LeaveUnlessLess],
            Code::BranchIfBit => [Code::LeaveIfBit, Code::LeaveUnlessBit],
            _ => [Code::LeaveIf, Code::LeaveUnless],
        };
        let code = if when != inverse { leave_if } else { leave_unless };
        self.ops.push(Op { code, exit, ..op });
        Some(())
    }

    /// The operations for leaving the block from here on, which come behind all others. Values that are
    /// computed there are not there for the rest of the block.
    fn exit(&mut self, leaving: &Leaving) -> Option<u16> {
        let ops = std::mem::take(&mut self.ops);
        let (computed, temporaries, pending) = (self.trail.len(), self.temporaries, self.pending.clone());
        self.finish(leaving)?;
        self.trail.drain(computed..).for_each(|value| self.slots[value.index()] = None);
        (self.temporaries, self.pending) = (temporaries, pending);
        let ops = std::mem::replace(&mut self.ops, ops);
        self.exits.push(ops);
        u16::try_from(self.exits.len() - 1).ok()
    }

    fn store(&mut self, store: &Store) -> Option<()> {
        if store.memory == self.isa.pc.memory || store.guard.is_some() {
            self.store_pending(Some(store.memory))?;
            return self.store_now(store);
        }
        self.pending.retain(|earlier| !earlier.is_to_cell_of(store));
        self.pending.push(*store);
        Some(())
    }

    /// Does the stores that a load might have to see.
    fn store_before_load(&mut self, memory: MemoryId, address: ValueId) -> Option<()> {
        if self.pending.iter().any(|store| store.may_reach(self.graph, memory, address)) {
            self.store_pending(Some(memory))?;
        }
        Some(())
    }

    /// Does the stores that were put off, all or those into one memory.
    fn store_pending(&mut self, memory: Option<MemoryId>) -> Option<()> {
        let is_due = |store: &Store| memory.is_none_or(|memory| store.memory == memory);
        let (due, later) = std::mem::take(&mut self.pending).into_iter().partition(is_due);
        self.pending = later;
        let due: Vec<Store> = due;
        due.iter().try_for_each(|store| self.store_now(store))
    }

    fn store_now(&mut self, store: &Store) -> Option<()> {
        let (z, keeping) = (store.memory.index() as u8, self.keeping(store.memory));
        if let Some(guard) = store.guard {
            let (x, y, into) = (self.slot(store.address)?, self.slot(store.value)?, self.slot(guard)?);
            self.ops.push(Op { into, x, y, z, ..Op::new(Code::StoreIf) });
            return Some(());
        }
        let y = self.slot(store.value)?;
        let Address { mode, x, extra, .. } = self.address(store.address, keeping, false)?;
        let code = match (keeping, mode) {
            (Keeping::Bytes, Mode::Offset) => Code::StoreOffset,
            (Keeping::Bytes, _) => Code::Store,
            (Keeping::Words, Mode::Offset) => Code::StoreWordOffset,
            (Keeping::Words, _) => Code::StoreWord,
            (Keeping::Far, _) => Code::StoreFar,
        };
        self.ops.push(Op { x, y, z, extra, ..Op::new(code) });
        Some(())
    }

    /// A store into the code memory, and the check of its cell.
    fn store_unmarked(&mut self, store: &Store, exit: u16) -> Option<()> {
        let y = self.slot(store.value)?;
        let keeping = self.keeping(store.memory);
        let Address { mode, x, low, extra } = self.address(store.address, keeping, true)?;
        let code = match (keeping, mode) {
            (Keeping::Words, Mode::Offset) => Code::StoreWordUnmarkedOffset,
            (Keeping::Words, _) => Code::StoreWordUnmarked,
            (_, Mode::Plain) => Code::StoreUnmarked,
            (_, Mode::Offset) => Code::StoreUnmarkedOffset,
            (_, Mode::Joined) => Code::StoreUnmarkedJoined,
        };
        self.ops.push(Op { into: low, x, y, z: store.memory.index() as u8, exit, extra, ..Op::new(code) });
        Some(())
    }

    /// Does what is still to be done, writes the registers, and goes on.
    fn finish(&mut self, leaving: &Leaving) -> Option<()> {
        self.store_pending(None)?;
        self.cycles(leaving.cycles)?;
        let changed = changed_registers(self.before, leaving.frame);
        let is_changed = |slot: Slot| changed.iter().any(|(register, _)| register.index() == usize::from(slot));
        let mut sources = Vec::new();
        for (_, value) in &changed {
            sources.push(self.slot(*value)?);
        }
        let mut end = self.end(leaving)?;
        // A register that is copied or tested is saved if it gets a new value before that.
        let tested = tested_slots(&mut end).into_iter();
        for source in sources.iter_mut().chain(tested) {
            if is_changed(*source) {
                let saved = self.temporary()?;
                self.ops.push(Op { into: saved, x: *source, ..Op::new(Code::Move) });
                *source = saved;
            }
        }
        for ((register, _), x) in changed.iter().zip(sources) {
            self.ops.push(match register.index() < REGISTERS {
                true => Op { into: register.index() as Slot, x, ..Op::new(Code::Move) },
                false => Op { x, extra: register.index() as u64, ..Op::new(Code::SetRegister) },
            });
        }
        self.ops.push(end);
        fuse_writes(&mut self.ops, self.before.registers.len().min(REGISTERS));
        Some(())
    }

    fn cycles(&mut self, cycles: Option<ValueId>) -> Option<()> {
        let Some(cycles) = cycles else { return Some(()) };
        match self.graph.as_constant(cycles) {
            Some(0) => {}
            Some(extra) => self.ops.push(Op { extra, ..Op::new(Code::CyclesNumber) }),
            None => {
                let x = self.slot(cycles)?;
                self.ops.push(Op { x, ..Op::new(Code::Cycles) });
            }
        }
        Some(())
    }

    fn end(&mut self, leaving: &Leaving) -> Option<Op> {
        let into = leaving.count;
        Some(match leaving.way {
            Way::Interpret(extra) => Op { into, extra, ..Op::new(Code::Interpret) },
            Way::Goto(target, from) | Way::End(End::Goto(target), from) => {
                let extra = u64::from(self.names.entry(target));
                Op { into, z: Ways::new(target <= from, false).0, extra, ..Op::new(Code::Goto) }
            }
            Way::End(End::Jump(target), from) => {
                let extra = u64::from(self.names.jump(from));
                Op { into, x: self.slot(target)?, extra, ..Op::new(Code::Jump) }
            }
            Way::End(End::Branch(condition, taken, other), from) => {
                let (op, inverse) = self.condition(condition, false)?;
                let (taken, other) = if inverse { (other, taken) } else { (taken, other) };
                let entries = (self.names.entry(taken), self.names.entry(other));
                let extra = u64::from(entries.0) << 32 | u64::from(entries.1);
                // The bit has to make room for the ways.
                let y = if op.code == Code::BranchIfBit { op.z } else { op.y };
                Op { into, y, z: Ways::new(other <= from, taken <= from).0, extra, ..op }
            }
        })
    }

    /// How a condition is tested, and whether it is the inverse that is; with a number, if it may be.
    fn condition(&mut self, condition: ValueId, number: bool) -> Option<(Op, bool)> {
        use BinaryOperator::{Equal, Less, LessOrEqual, Or, Unequal};
        let test = |code, x, y| Op { x, y, ..Op::new(code) };
        Some(match self.graph.node(condition) {
            Node::Unary(UnaryOperator::Not, inner) => {
                let (op, inverse) = self.condition(inner, number)?;
                (op, !inverse)
            }
            Node::Binary(operator @ (Equal | Unequal), x, y) => {
                let op = match self.graph.as_constant(y).filter(|_| number) {
                    Some(extra) => Op { x: self.slot(x)?, extra, ..Op::new(Code::EqualNumber) },
                    None => test(Code::BranchIfEqual, self.slot(x)?, self.slot(y)?),
                };
                (op, operator == Unequal)
            }
            Node::Binary(Or, x, y) if self.not_negative(x, y).is_some() => {
                let value = self.not_negative(x, y)?;
                let top = self.graph.width(value).bits() - 1;
                (Op { x: self.slot(value)?, z: top as u8, ..Op::new(Code::BranchIfBit) }, true)
            }
            Node::Binary(Less, x, y) => (test(Code::BranchIfLess, self.slot(x)?, self.slot(y)?), false),
            Node::Binary(LessOrEqual, x, y) => (test(Code::BranchIfLess, self.slot(y)?, self.slot(x)?), true),
            Node::Slice(x, low) => (Op { x: self.slot(x)?, z: low as u8, ..Op::new(Code::BranchIfBit) }, false),
            _ => (test(Code::BranchIf, self.slot(condition)?, 0), false),
        })
    }

    /// The operations of the block, and behind them those for leaving it.
    fn together(self) -> Option<Vec<Op>> {
        let mut ops = self.ops;
        let own = ops.len();
        let mut starts = Vec::new();
        for exit in self.exits {
            starts.push(ops.len());
            ops.extend(exit);
        }
        for (op, at) in ops[..own].iter_mut().zip(1..).filter(|(op, _)| leaves(op.code)) {
            op.exit = u16::try_from(starts[usize::from(op.exit)] - at).ok()?;
        }
        Some(ops)
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
