//! The operations of a block as a list of lines. How long each value is live is known only when the list is complete.

use crate::emit::{Comparison, Operation, Type};

/// A value: made by a line, or kept for all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) id: Id,
    pub(super) ty: Type,
}

/// The number of a line or, from [`Id::KEPT`] on, of a value that is kept for all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) u32);

impl Id {
    const KEPT: u32 = 1 << 31;

    /// The context, which is always available.
    pub(super) const CONTEXT: Id = Id(u32::MAX);

    pub(super) fn kept(number: usize) -> Id {
        Id(Id::KEPT | number as u32)
    }

    /// Returns the number of a kept value, if it is one.
    pub(super) fn as_kept(self) -> Option<usize> {
        (self.0 & Id::KEPT != 0).then_some((self.0 & !Id::KEPT) as usize)
    }

    pub(super) fn line(self) -> usize {
        self.0 as usize
    }
}

/// A variable, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable(pub(super) u32);

/// A block of the region, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockId(pub(super) u32);

/// What a line does. The value it makes has the number of the line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// The number of the block to begin with.
    Parameter,
    Number(u64),
    Calculate(Operation, Value, Value),
    Not(Value),
    Negate(Value),
    /// This many low bytes in the opposite order.
    Swap(u32, Value),
    Compare(Comparison, Value, Value),
    IsZero(Value),
    Bit(Value),
    /// Whether one of `count` listed conditions from `first` on holds. Only an [`Op::If`] uses it.
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
    /// Sets variables: `count` listed assignments from `first` on.
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
        /// The line where the other branch begins or, if there is none, where this one ends.
        otherwise: u32,
    },
    Else {
        end: u32,
    },
    End,
    Jump(BlockId),
    Leave,
    /// Leaves the region for an address where another region may go on.
    GoOn,
}

impl Op {
    /// Whether it does more than make a value: it writes something, or paths part, meet or end there.
    fn has_effect(self) -> bool {
        let writes = matches!(self, Op::Store { .. } | Op::Assign { .. } | Op::Keep(..) | Op::Dispatch(_));
        writes || matches!(self, Op::If { .. } | Op::Else { .. } | Op::End | Op::Jump(_) | Op::Leave | Op::GoOn)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) op: Op,
    /// The type of the value it makes.
    pub(super) ty: Type,
}

/// The most lines between a load and the comparison that reads its memory directly.
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

    /// Returns the operation that makes a value, unless the value is kept.
    pub(super) fn op(&self, value: Value) -> Option<Op> {
        self.line_of(value).map(|line| line.op)
    }

    /// Returns the line that makes a value, unless the value is kept.
    fn line_of(&self, value: Value) -> Option<Line> {
        match value.id.as_kept() {
            Some(_) => None,
            None => Some(self.lines[value.id.line()]),
        }
    }

    /// Returns what an [`Op::Assign`] sets.
    pub(super) fn assigned(&self, first: u32, count: u32) -> &[(Variable, Value)] {
        &self.assigned[first as usize..(first + count) as usize]
    }

    /// Returns the conditions of an [`Op::Any`].
    pub(super) fn any(&self, first: u32, count: u32) -> &[Value] {
        &self.conditions[first as usize..(first + count) as usize]
    }

    /// Whether a value is made in a register at its line, rather than where it is used.
    fn is_made_in_a_register(&self, value: Value) -> bool {
        match self.lines[value.id.line()].op {
            Op::Calculate(..) => self.variable_and_number(value).is_none(),
            Op::Not(_) | Op::Negate(_) | Op::Swap(..) | Op::Bit(_) | Op::Choose(..) => true,
            Op::WidenSigned(_) | Op::Narrow(_) | Op::Load { .. } => true,
            _ => false,
        }
    }

    /// Whether one instruction can compare a value in memory with a constant.
    fn is_compared_in_memory(&self, comparison: Comparison, x: Value, y: Value) -> bool {
        let Some(Op::Load { bytes, .. }) = self.op(x) else { return false };
        let is_signed = matches!(comparison, Comparison::LessSigned | Comparison::LessOrEqualSigned);
        let number = self.number(y).and_then(|number| short_number(number, x.ty.bytes()));
        number.is_some_and(|number| can_be_compared(bytes, x.ty, number, is_signed))
    }

    /// Whether the second line closely follows the first, and no line in between has an effect.
    fn is_soon(&self, first: usize, then: usize) -> bool {
        then - first <= SOON && !self.lines[first + 1..then].iter().any(|line| line.op.has_effect())
    }

    /// Returns the constant that a value is, if it is one.
    pub(super) fn number(&self, value: Value) -> Option<u64> {
        match self.op(value)? {
            Op::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the bits that a value may have set, as far as a short look tells.
    pub(super) fn possible_bits(&self, value: Value) -> u64 {
        self.possible_bits_within(value, 2)
    }

    /// Returns the bits that a value may have set, following a chain of at most this many lines.
    fn possible_bits_within(&self, value: Value, lines: u32) -> u64 {
        let all = ones(value.ty.bits());
        let Some(Line { op, ty }) = self.line_of(value).filter(|_| lines > 0) else { return all };
        // A value of 32 bits used as one of 64 has zeros above.
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

    /// Returns the operand and the constant count of a left shift, if a value is one.
    pub(super) fn shifted_left(&self, value: Value) -> Option<(Value, u64)> {
        match self.op(value)? {
            Op::Calculate(Operation::ShiftLeft, x, count) if x.ty == value.ty => Some((x, self.number(count)?)),
            _ => None,
        }
    }

    /// Returns the variable that a value has been read from, if the value is that of a variable or its sum with a
    /// constant.
    pub(super) fn variable_of(&self, id: Id) -> Option<Variable> {
        match self.lines[id.line()] {
            Line { op: Op::Read(variable), .. } => Some(variable),
            Line { ty, .. } => self.variable_and_number(Value { id, ty }).map(|(variable, _)| variable),
        }
    }

    /// Returns the variable and the constant whose sum a value is, if it is one.
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

/// The ways in which the value of a line is used, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses(u8);

impl Uses {
    const VALUE: Uses = Uses(1);
    /// As a condition.
    const CONDITION: Uses = Uses(2);
    /// As an address.
    const ADDRESS: Uses = Uses(4);
    /// As an address to which a constant is added.
    const NEARBY: Uses = Uses(8);
    /// As an index added to an address.
    const INDEX: Uses = Uses(16);
    /// As an operand that can be compared with a constant in memory.
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

/// How long the values of a block are live, and which are made only where they are used.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The line that uses each value last; its own line, if none does.
    pub(super) last: Vec<u32>,
    /// Whether each line emits nothing: its value is unused, or made where it is used, as part of the line that uses
    /// it.
    pub(super) is_put_off: Vec<bool>,
    /// For each line, the variable that its value is written to as soon as it is made.
    pub(super) early: Vec<Option<Early>>,
    /// The lines whose value is the old value of each variable, or its sum with a constant.
    readers: Vec<Vec<u32>>,
    uses: Vec<Uses>,
}

/// A variable is set at the end of a path, but there is no branch between the line that makes its value and the end. So
/// the value is written where it is made: otherwise the values of all variables would be live until the end, and there
/// are more of them than registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Early {
    pub(super) variable: Variable,
    /// The line that sets the variable.
    pub(super) assigned: u32,
}

impl Lifetimes {
    /// Finds the lifetimes of a listing. Variables that are not in memory are set at the end.
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

    /// Returns the lines whose value is that of a variable, or its sum with a constant, from before it is set.
    pub(super) fn readers(&self, variable: Variable) -> &[u32] {
        self.readers.get(variable.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a value has been written to a variable before the line that sets it.
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

/// Returns a number of this many ones, at most 64.
fn ones(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

/// Whether a number fits into an instruction as a displacement.
pub(super) fn is_short(number: u64) -> bool {
    i32::try_from(number as i64).is_ok()
}

/// Returns a number of this many bytes as a signed immediate of 32 bits, if it fits.
pub(super) fn short_number(number: u64, bytes: u32) -> Option<i32> {
    match bytes {
        8 => is_short(number).then_some(number as i32),
        _ => Some(number as i32),
    }
}

/// Whether one instruction can compare this many bytes of memory, zero-extended, with a number.
pub(super) fn can_be_compared(bytes: u32, ty: Type, number: i32, is_signed: bool) -> bool {
    match bytes {
        _ if bytes == ty.bytes() => true,
        _ if is_signed => false,
        1 => u8::try_from(number).is_ok(),
        2 => (0..0x80).contains(&number),
        _ => number >= 0,
    }
}
