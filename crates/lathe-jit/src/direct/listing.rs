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
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) op: Op,
    /// The type of the value that it makes.
    pub(super) ty: Type,
}

/// The lines of a block.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) lines: Vec<Line>,
    pub(super) assigned: Vec<(Variable, Value)>,
}

impl Listing {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.assigned.clear();
    }

    pub(super) fn add(&mut self, op: Op, ty: Type) -> Value {
        self.lines.push(Line { op, ty });
        Value { id: Id(self.lines.len() as u32 - 1), ty }
    }

    /// How a value is made, unless it is kept.
    pub(super) fn op(&self, value: Value) -> Option<Op> {
        match value.id.as_kept() {
            Some(_) => None,
            None => Some(self.lines[value.id.line()].op),
        }
    }

    /// The number that a value is, if it is one.
    pub(super) fn number(&self, value: Value) -> Option<u64> {
        match self.op(value)? {
            Op::Number(number) => Some(number),
            _ => None,
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

    fn is_only(self, others: Uses) -> bool {
        self.0 & !others.0 == 0
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
    uses: Vec<Uses>,
}

impl Lifetimes {
    /// Looks at a listing.
    pub(super) fn find(&mut self, listing: &Listing) {
        let count = listing.lines.len();
        self.last.clear();
        self.last.extend(0..count as u32);
        self.uses.clear();
        self.uses.resize(count, Uses::default());
        self.is_put_off.clear();
        self.is_put_off.resize(count, false);
        for line in (0..count).rev() {
            self.line(listing, line);
        }
    }

    fn line(&mut self, listing: &Listing, line: usize) {
        let Line { op, ty } = listing.lines[line];
        let is_used = self.last[line] != line as u32;
        let uses = self.uses[line];
        self.is_put_off[line] = match op {
            Op::Store { .. } | Op::Assign { .. } | Op::Keep(..) | Op::Dispatch(_) | Op::Jump(_) | Op::Leave => false,
            Op::If { .. } | Op::Else { .. } | Op::End => false,
            _ if !is_used => return self.is_put_off[line] = true,
            Op::Number(_) | Op::Compare(..) | Op::IsZero(_) | Op::Read(_) | Op::Parameter => true,
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
            Op::Parameter | Op::Number(_) | Op::Read(_) | Op::Else { .. } | Op::End | Op::Jump(_) | Op::Leave => {}
            Op::Calculate(Operation::Add, x, y) if is_address => match listing.number(y) {
                Some(_) => self.used(x, at, Uses::NEARBY),
                None => {
                    self.used(x, at, Uses::VALUE);
                    self.used(y, at, Uses::INDEX);
                }
            },
            Op::Calculate(_, x, y) | Op::Compare(_, x, y) => {
                self.used(x, at, Uses::VALUE);
                self.used(y, at, Uses::VALUE);
            }
            Op::Not(x) | Op::Negate(x) | Op::Swap(_, x) | Op::WidenSigned(x) | Op::Narrow(x) => {
                self.used(x, at, Uses::VALUE);
            }
            Op::IsZero(x) | Op::Bit(x) => self.used(x, at, Uses::CONDITION),
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
                let assigned = &listing.assigned[first as usize..(first + count) as usize];
                assigned.iter().for_each(|(_, value)| self.used(*value, at, Uses::VALUE));
            }
            Op::Keep(x, _) | Op::Dispatch(x) => self.used(x, at, Uses::VALUE),
            Op::If { condition, .. } => self.used(condition, at, Uses::CONDITION),
        }
    }

    fn used(&mut self, value: Value, at: u32, uses: Uses) {
        if value.id.as_kept().is_none() {
            let line = value.id.line();
            self.last[line] = self.last[line].max(at);
            self.uses[line] = self.uses[line].or(uses);
        }
    }
}

/// Whether a number fits into an instruction as a distance.
pub(super) fn is_short(number: u64) -> bool {
    i32::try_from(number as i64).is_ok()
}
