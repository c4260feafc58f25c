//! What is done in a block, written down: only when all of it is known is it known how long each value is used.

use crate::emit::{Comparison, Operation, Type};

/// A value: the number of the line that makes it, or one that is kept for all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) id: Id,
    pub(super) ty: Type,
}

/// The number of a line, or above [`Id::KEPT`] that of something that is kept for all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) u32);

impl Id {
    const KEPT: u32 = 1 << 31;

    /// The context, which is always there.
    pub(super) const CONTEXT: Id = Id(u32::MAX);

    pub(super) fn kept(number: usize) -> Id {
        Id(Id::KEPT | number as u32)
    }

    /// The number of what is kept, if this is.
    pub(super) fn as_kept(self) -> Option<usize> {
        (self.0 & Id::KEPT != 0).then_some((self.0 & !Id::KEPT) as usize)
    }

    pub(super) fn line(self) -> usize {
        self.0 as usize
    }
}

/// Something that blocks hand on to one another, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable(pub(super) u32);

/// A block of the region, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockId(pub(super) u32);

/// What a line does. Values that it makes have its number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// The number of the block to begin with.
    Parameter,
    Number(u64),
    Calculate(Operation, Value, Value),
    Not(Value),
    Negate(Value),
    /// This many low bytes in the other order.
    Swap(u32, Value),
    Compare(Comparison, Value, Value),
    IsZero(Value),
    Bit(Value),
    /// Whether one of the conditions holds that are listed from a number on. Only an [`Op::If`] asks for it.
    Any {
        first: u32,
        count: u32,
    },
    Choose(Value, Value, Value),
    WidenSigned(Value),
    Narrow(Value),
    Load {
        bytes: u32,
        at: Value,
        offset: i32,
    },
    Read(Variable),
    Store {
        bytes: u32,
        value: Value,
        at: Value,
        offset: i32,
    },
    /// Sets variables: so many of those that are listed, from a number on.
    Assign {
        first: u32,
        count: u32,
    },
    /// Keeps a value for all blocks.
    Keep(Value, u32),
    Dispatch(Value),
    If {
        condition: Value,
        is_rare: bool,
        /// The line where the other way begins, or where this one ends if there is no other.
        otherwise: u32,
    },
    Else {
        end: u32,
    },
    End,
    Jump(BlockId),
    Leave,
    /// Leaves for an address where another region may go on.
    GoOn,
}

impl Op {
    /// Whether it does more than make a value: it writes something, or ways part, meet or end there.
    fn has_effect(self) -> bool {
        let writes = matches!(self, Op::Store { .. } | Op::Assign { .. } | Op::Keep(..) | Op::Dispatch(_));
        writes || matches!(self, Op::If { .. } | Op::Else { .. } | Op::End | Op::Jump(_) | Op::Leave | Op::GoOn)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) op: Op,
    /// The type of the value that it makes.
    pub(super) ty: Type,
}

/// What is read from memory where it is compared must be within so many lines.
const SOON: usize = 16;

/// The lines of a block.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) lines: Vec<Line>,
    pub(super) assigned: Vec<(Variable, Value)>,
    pub(super) conditions: Vec<Value>,
}

impl Listing {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.assigned.clear();
        self.conditions.clear();
    }

    pub(super) fn add(&mut self, op: Op, ty: Type) -> Value {
        self.lines.push(Line { op, ty });
        Value { id: Id(self.lines.len() as u32 - 1), ty }
    }

    /// How a value is made, unless it is kept.
    pub(super) fn op(&self, value: Value) -> Option<Op> {
        self.line_of(value).map(|line| line.op)
    }

    /// The line that makes a value, unless it is kept.
    fn line_of(&self, value: Value) -> Option<Line> {
        match value.id.as_kept() {
            Some(_) => None,
            None => Some(self.lines[value.id.line()]),
        }
    }

    /// What a line sets.
    pub(super) fn assigned(&self, first: u32, count: u32) -> &[(Variable, Value)] {
        &self.assigned[first as usize..(first + count) as usize]
    }

    /// The conditions of which one is enough.
    pub(super) fn any(&self, first: u32, count: u32) -> &[Value] {
        &self.conditions[first as usize..(first + count) as usize]
    }

    /// Whether a value that is used as such is made at its line, and not where it is used.
    fn is_made_in_a_register(&self, value: Value) -> bool {
        match self.lines[value.id.line()].op {
            Op::Calculate(..) => self.variable_and_number(value).is_none(),
            Op::Not(_) | Op::Negate(_) | Op::Swap(..) | Op::Bit(_) | Op::Choose(..) => true,
            Op::WidenSigned(_) | Op::Narrow(_) | Op::Load { .. } => true,
            _ => false,
        }
    }

    /// Whether one instruction compares what is read from memory with a number.
    fn is_compared_in_memory(&self, comparison: Comparison, x: Value, y: Value) -> bool {
        let Some(Op::Load { bytes, .. }) = self.op(x) else { return false };
        let is_signed = matches!(comparison, Comparison::LessSigned | Comparison::LessOrEqualSigned);
        let number = self.number(y).and_then(|number| short_number(number, x.ty.bytes()));
        number.is_some_and(|number| can_be_compared(bytes, x.ty, number, is_signed))
    }

    /// Whether the second line follows the first closely, and nothing is written and no way parts or ends in between.
    fn is_soon(&self, first: usize, then: usize) -> bool {
        then - first <= SOON && !self.lines[first + 1..then].iter().any(|line| line.op.has_effect())
    }

    /// The number that a value is, if it is one.
    pub(super) fn number(&self, value: Value) -> Option<u64> {
        match self.op(value)? {
            Op::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The bits that a value may have, as far as a short look tells.
    pub(super) fn possible_bits(&self, value: Value) -> u64 {
        self.possible_bits_within(value, 2)
    }

    /// The same, with a look at so many lines one behind the other.
    fn possible_bits_within(&self, value: Value, lines: u32) -> u64 {
        let all = ones(value.ty.bits());
        let Some(Line { op, ty }) = self.line_of(value).filter(|_| lines > 0) else { return all };
        // A value of 32 bits that is taken for one of 64 has none above.
        let all = all & ones(ty.bits());
        let of = |x: Value| self.possible_bits_within(x, lines - 1);
        all & match op {
            Op::Number(number) => number,
            Op::Calculate(operation, x, y) => match (operation, self.number(y)) {
                (Operation::And, Some(mask)) => of(x) & mask,
                (Operation::ShiftRight, Some(count)) => of(x) >> (count % u64::from(ty.bits())),
                (Operation::Or | Operation::Xor, _) => of(x) | of(y),
                _ => all,
            },
            Op::Load { bytes, .. } => ones(8 * bytes),
            Op::Swap(bytes, _) => ones(8 * bytes),
            Op::Bit(_) => 1,
            _ => all,
        }
    }

    /// The value that another is made of by shifting it to the left by a number, and the number.
    pub(super) fn shifted_left(&self, value: Value) -> Option<(Value, u64)> {
        match self.op(value)? {
            Op::Calculate(Operation::ShiftLeft, x, count) if x.ty == value.ty => Some((x, self.number(count)?)),
            _ => None,
        }
    }

    /// The variable of which a value, or what it is a sum of, has been read, if that is all there is to it.
    pub(super) fn variable_of(&self, id: Id) -> Option<Variable> {
        match self.lines[id.line()] {
            Line { op: Op::Read(variable), .. } => Some(variable),
            Line { ty, .. } => self.variable_and_number(Value { id, ty }).map(|(variable, _)| variable),
        }
    }

    /// The variable and the number of which a value is the sum, if it is one.
    pub(super) fn variable_and_number(&self, value: Value) -> Option<(Variable, i32)> {
        let Op::Calculate(operation, x, y) = self.op(value)? else { return None };
        let Op::Read(variable) = self.op(x)? else { return None };
        let number = self.number(y)? as i64;
        let number = match operation {
            Operation::Add => number,
            Operation::Subtract => number.checked_neg()?,
            _ => return None,
        };
        let is_whole = value.ty == Type::I64;
        i32::try_from(number).ok().filter(|_| is_whole).map(|number| (variable, number))
    }
}

/// How the value of a line is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses(u8);

impl Uses {
    const VALUE: Uses = Uses(1);
    /// As a condition.
    const CONDITION: Uses = Uses(2);
    /// As an address.
    const ADDRESS: Uses = Uses(4);
    /// As an address to which a number is added.
    const NEARBY: Uses = Uses(8);
    /// As an index from an address.
    const INDEX: Uses = Uses(16);
    /// As what can be compared with a number where it is in memory.
    const COMPARED: Uses = Uses(32);
    /// More than once.
    const AGAIN: Uses = Uses(64);

    fn is_only(self, others: Uses) -> bool {
        self.0 & !(others.0 | Uses::AGAIN.0) == 0
    }

    fn is_once(self) -> bool {
        self.0 & Uses::AGAIN.0 == 0
    }

    fn or(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }
}

/// How long the values of a block are used, and which are made only where they are.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The line that uses each last; its own, if none does.
    pub(super) last: Vec<u32>,
    /// Whether the line does nothing: its value is made where it is used, as part of what uses it, or nobody uses it.
    pub(super) is_put_off: Vec<bool>,
    /// Values that are written to a variable as soon as they are made.
    pub(super) early: Vec<Option<Early>>,
    /// The lines with the old value of each variable, or the sum of it and a number.
    readers: Vec<Vec<u32>>,
    uses: Vec<Uses>,
}

/// A variable is set at the end of a way, but nothing on the way from where its value is made can go elsewhere. So it is written
/// there: otherwise the values of all variables would have to be kept until the end, and there are more of them than registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Early {
    pub(super) variable: Variable,
    /// The line that sets it.
    pub(super) assigned: u32,
}

impl Lifetimes {
    /// Looks at a listing. Variables that are not in memory are set at the end.
    pub(super) fn find(&mut self, listing: &Listing, is_in_memory: impl Fn(Variable) -> bool) {
        let count = listing.lines.len();
        self.last.clear();
        self.last.extend(0..count as u32);
        self.uses.clear();
        self.uses.resize(count, Uses::default());
        self.is_put_off.clear();
        self.is_put_off.resize(count, false);
        self.find_early(listing, is_in_memory);
        for line in (0..count).rev() {
            self.line(listing, line);
        }
    }

    fn find_early(&mut self, listing: &Listing, is_in_memory: impl Fn(Variable) -> bool) {
        self.early.clear();
        self.early.resize(listing.lines.len(), None);
        self.readers.iter_mut().for_each(Vec::clear);
        let mut since = 0;
        for (line, Line { op, .. }) in (0..).zip(&listing.lines) {
            match *op {
                Op::If { .. } | Op::Else { .. } | Op::End => since = line,
                Op::Read(_) | Op::Calculate(..) => {
                    listing.variable_of(Id(line)).into_iter().for_each(|variable| self.add_reader(variable, line));
                }
                Op::Assign { first, count } => {
                    for (variable, value) in listing.assigned(first, count) {
                        let is_late = value.id.as_kept().is_some() || value.id.0 < since;
                        if !is_late && listing.is_made_in_a_register(*value) && is_in_memory(*variable) {
                            let early = Early { variable: *variable, assigned: line };
                            self.early[value.id.line()].get_or_insert(early);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add_reader(&mut self, variable: Variable, line: u32) {
        let index = variable.0 as usize;
        if self.readers.len() <= index {
            self.readers.resize(index + 1, Vec::new());
        }
        self.readers[index].push(line);
    }

    /// The lines that have the value of a variable, or a sum of it, from before it is set.
    pub(super) fn readers(&self, variable: Variable) -> &[u32] {
        self.readers.get(variable.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a value has been written to a variable by the time that this line sets it.
    pub(super) fn is_written_early(&self, (variable, value): (Variable, Value), assigned: u32) -> bool {
        value.id.as_kept().is_none() && self.early[value.id.line()] == Some(Early { variable, assigned })
    }

    fn line(&mut self, listing: &Listing, line: usize) {
        let Line { op, ty } = listing.lines[line];
        let is_used = self.last[line] != line as u32 || self.early[line].is_some();
        let uses = self.uses[line];
        self.is_put_off[line] = match op {
            _ if op.has_effect() => false,
            _ if !is_used => return self.is_put_off[line] = true,
            Op::Number(_) | Op::Compare(..) | Op::IsZero(_) | Op::Any { .. } | Op::Read(_) | Op::Parameter => true,
            Op::Bit(_) => uses.is_only(Uses::CONDITION),
            Op::Load { .. } => {
                let is_asked_about = uses.is_only(Uses::CONDITION.or(Uses::COMPARED));
                is_asked_about && uses.is_once() && listing.is_soon(line, self.last[line] as usize)
            }
            Op::Calculate(operation, x, y) => {
                let number = listing.number(y);
                let is_address = ty == Type::I64;
                match operation {
                    Operation::And if number.is_some() => uses.is_only(Uses::CONDITION),
                    Operation::Add if is_address && number.is_some_and(is_short) && uses.is_only(Uses::ADDRESS) => true,
                    Operation::Add if is_address && number.is_none() && listing.number(x).is_none() => {
                        uses.is_only(Uses::ADDRESS.or(Uses::NEARBY))
                    }
                    Operation::ShiftLeft if is_address && number.is_some_and(|count| count <= 3) => {
                        uses.is_only(Uses::INDEX)
                    }
                    _ => listing.variable_and_number(Value { id: Id(line as u32), ty }).is_some(),
                }
            }
            _ => false,
        };
        let is_put_off = self.is_put_off[line];
        let at = if is_put_off { self.last[line] } else { line as u32 };
        let is_address = uses.is_only(Uses::ADDRESS.or(Uses::NEARBY)) && is_put_off;
        match op {
            Op::Parameter | Op::Number(_) | Op::Read(_) | Op::Else { .. } | Op::End => {}
            Op::Jump(_) | Op::Leave | Op::GoOn => {}
            Op::Calculate(Operation::Add, x, y) if is_address => match listing.number(y) {
                Some(_) => self.used(x, at, Uses::NEARBY),
                None => {
                    self.used(x, at, Uses::VALUE);
                    self.used(y, at, Uses::INDEX);
                }
            },
            Op::Compare(comparison, x, y) if listing.is_compared_in_memory(comparison, x, y) => {
                self.used(x, at, Uses::COMPARED);
                self.used(y, at, Uses::VALUE);
            }
            Op::Calculate(_, x, y) | Op::Compare(_, x, y) => {
                self.used(x, at, Uses::VALUE);
                self.used(y, at, Uses::VALUE);
            }
            Op::Not(x) | Op::Negate(x) | Op::Swap(_, x) | Op::WidenSigned(x) | Op::Narrow(x) => {
                self.used(x, at, Uses::VALUE);
            }
            Op::IsZero(x) | Op::Bit(x) => self.used(x, at, Uses::CONDITION),
            Op::Any { first, count } => {
                listing.any(first, count).iter().for_each(|condition| self.used(*condition, at, Uses::CONDITION));
            }
            Op::Choose(condition, x, y) => {
                self.used(condition, at, Uses::CONDITION);
                self.used(x, at, Uses::VALUE);
                self.used(y, at, Uses::VALUE);
            }
            Op::Load { at: address, .. } => self.used(address, at, Uses::ADDRESS),
            Op::Store { value, at: address, .. } => {
                self.used(value, at, Uses::VALUE);
                self.used(address, at, Uses::ADDRESS);
            }
            Op::Assign { first, count } => {
                for (variable, value) in listing.assigned(first, count) {
                    let is_early = self.is_written_early((*variable, *value), line as u32);
                    self.used(*value, if is_early { value.id.0 } else { at }, Uses::VALUE);
                }
            }
            Op::Keep(x, _) | Op::Dispatch(x) => self.used(x, at, Uses::VALUE),
            Op::If { condition, .. } => self.used(condition, at, Uses::CONDITION),
        }
    }

    fn used(&mut self, value: Value, at: u32, uses: Uses) {
        if value.id.as_kept().is_none() {
            let line = value.id.line();
            self.last[line] = self.last[line].max(at);
            let before = self.uses[line];
            let again = if before == Uses::default() { before } else { Uses::AGAIN };
            self.uses[line] = before.or(uses).or(again);
        }
    }
}

/// So many ones, at most as many as there can be.
fn ones(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

/// Whether a number fits into an instruction as a distance.
pub(super) fn is_short(number: u64) -> bool {
    i32::try_from(number as i64).is_ok()
}

/// A number of this many bytes, if an instruction can have it as one of 32 bits with a sign.
pub(super) fn short_number(number: u64, bytes: u32) -> Option<i32> {
    match bytes {
        8 => is_short(number).then_some(number as i32),
        _ => Some(number as i32),
    }
}

/// Whether so many bytes of memory, with zeros above them, can be compared with a number in one instruction.
pub(super) fn can_be_compared(bytes: u32, ty: Type, number: i32, is_signed: bool) -> bool {
    match bytes {
        _ if bytes == ty.bytes() => true,
        _ if is_signed => false,
        1 => u8::try_from(number).is_ok(),
        2 => (0..0x80).contains(&number),
        _ => number >= 0,
    }
}
