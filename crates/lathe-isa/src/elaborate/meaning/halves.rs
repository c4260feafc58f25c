//! Splits values of more than 64 bits when a meaning is complete, so that nothing after this file sees one.
//!
//! Each becomes its lower 64 bits and the rest above them. Expressions are pure, so the halves can be computed in
//! locals directly before the statement that uses them; anything needed twice is kept in a local. The rejected
//! alternative, splitting while statements are lowered, would complicate all code there that does not care how wide a
//! value is.
//!
//! Not here: division of wide values, which is refused where it is written.

use lathe_base::Width;

use crate::language::ast::{Binary, Expr as Tree, ExprKind as TreeKind};
use crate::operators::{BinaryOperator, UnaryOperator};
use crate::semantics::{Block, Body, Expr, ExprKind, LocalId, Statement};

/// Returns how many extra parts of a meaning a wide value counts for: at least one for each local that it takes.
pub(super) fn cost(tree: &Tree) -> usize {
    match &tree.kind {
        TreeKind::Binary(Binary::Multiply, ..) => 32,
        TreeKind::Binary(Binary::ShiftLeft | Binary::ShiftRight, ..) => 24,
        TreeKind::Call(name, _) if name.text.starts_with("rot") => 48,
        _ => 6,
    }
}

/// Makes a number that fits in this width.
pub(super) fn constant(width: Width, number: i128) -> Expr {
    match above(width) {
        None => Expr::constant(width, number as u64),
        Some(rest) => {
            Expr::join(Expr::constant(rest, (number >> 64) as u64), Expr::constant(Width::MAX, number as u64))
        }
    }
}

/// Returns the value of an expression that is a number.
pub(super) fn number(expr: &Expr) -> Option<u128> {
    match &expr.kind {
        ExprKind::Constant(value) => Some(u128::from(*value)),
        ExprKind::Join(high, low) => Some(number(high)?.checked_shl(low.width.bits())? | number(low)?),
        ExprKind::ZeroExtend(inner) => number(inner),
        _ => None,
    }
}

/// Rewrites a meaning without values of more than 64 bits.
pub(super) fn split(mut body: Body) -> Body {
    let rests = body.locals.iter().map(|width| above(*width)).collect::<Vec<_>>();
    let mut splitter = Splitter { locals: body.locals, upper: Vec::new(), block: Vec::new() };
    for (at, rest) in rests.into_iter().enumerate() {
        let upper = rest.map(|rest| {
            splitter.locals[at] = Width::MAX;
            splitter.local(rest)
        });
        splitter.upper.push(upper);
    }
    splitter.statements(std::mem::take(&mut body.block));
    let value = body.value.map(|value| splitter.narrow(value));
    Body { locals: splitter.locals, block: splitter.block, value }
}

/// Whether no value of a meaning has more than 64 bits.
pub(super) fn is_narrow(body: &Body) -> bool {
    let mut widest = body.locals.iter().copied().max().unwrap_or(Width::BIT);
    let mut see = |expr: &Expr| widest = widest.max(expr.width);
    let mut look = |statement: &Statement| statement.expressions().for_each(|expr| expr.visit(&mut see));
    body.block.iter().for_each(|statement| statement.visit(&mut look));
    body.value.iter().for_each(|value| value.visit(&mut see));
    !widest.is_wide()
}

/// Returns the width of the upper half of a value, if it has one.
fn above(width: Width) -> Option<Width> {
    Width::new(u64::from(width.bits().saturating_sub(Width::MAX.bits())))
}

/// The lower 64 bits of a value, and the bits above. Both can be used twice.
#[derive(Clone)]
struct Halves {
    low: Expr,
    high: Expr,
}

impl Halves {
    fn each(self, other: Halves, mut combine: impl FnMut(Expr, Expr) -> Expr) -> Halves {
        Halves { low: combine(self.low, other.low), high: combine(self.high, other.high) }
    }

    fn bits(&self) -> u32 {
        self.low.width.bits() + self.high.width.bits()
    }
}

struct Splitter {
    locals: Vec<Width>,
    /// The local for the upper half of each wide local.
    upper: Vec<Option<LocalId>>,
    block: Block,
}

impl Splitter {
    fn local(&mut self, width: Width) -> LocalId {
        self.locals.push(width);
        LocalId((self.locals.len() - 1) as u16)
    }

    fn upper(&self, local: LocalId) -> Option<LocalId> {
        self.upper.get(usize::from(local.0)).copied().flatten()
    }

    /// Makes an expression that can be used twice. Nothing changes between here and the statement that it is for.
    fn keep(&mut self, expr: Expr) -> Expr {
        if expr.is_short() {
            return expr;
        }
        let (width, local) = (expr.width, self.local(expr.width));
        self.block.push(Statement::Let(local, expr));
        Expr::local(width, local)
    }

    fn keep_both(&mut self, halves: Halves) -> Halves {
        let low = self.keep(halves.low);
        Halves { low, high: self.keep(halves.high) }
    }

    fn statements(&mut self, block: Block) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn in_block(&mut self, block: Block) -> Block {
        let outer = std::mem::take(&mut self.block);
        self.statements(block);
        std::mem::replace(&mut self.block, outer)
    }

    fn statement(&mut self, mut statement: Statement) {
        if let Statement::Let(local, value) = statement {
            return self.set(local, value);
        }
        for expr in statement.expressions_mut() {
            let taken = std::mem::replace(expr, Expr::constant(Width::BIT, 0));
            *expr = self.narrow(taken);
        }
        if let Statement::If { condition, then, otherwise } = statement {
            return match condition.as_constant() {
                Some(0) => self.statements(otherwise),
                Some(_) => self.statements(then),
                None => {
                    let (then, otherwise) = (self.in_block(then), self.in_block(otherwise));
                    self.block.push(Statement::If { condition, then, otherwise });
                }
            };
        }
        self.block.push(statement);
    }

    fn set(&mut self, local: LocalId, value: Expr) {
        let Some(upper) = self.upper(local) else {
            let value = self.narrow(value);
            return self.block.push(Statement::Let(local, value));
        };
        let Halves { low, mut high } = self.halves(value);
        let mut needs_old = false;
        high.visit(&mut |part| needs_old |= part.kind == ExprKind::Local(local));
        if needs_old {
            let kept = self.local(high.width);
            let width = high.width;
            self.block.push(Statement::Let(kept, std::mem::replace(&mut high, Expr::local(width, kept))));
        }
        for (local, half) in [(local, low), (upper, high)] {
            if half.kind != ExprKind::Local(local) {
                self.block.push(Statement::Let(local, half));
            }
        }
    }

    /// Rewrites an expression of at most 64 bits, so that all its parts have at most 64 bits, too.
    fn narrow(&mut self, mut expr: Expr) -> Expr {
        match expr.kind {
            ExprKind::Slice(inner, low) if inner.width.is_wide() => {
                let Halves { low: first, high } = self.halves(*inner);
                gather(&[first, high], low, expr.width)
            }
            ExprKind::Binary(operator, x, y) if x.width.is_wide() => self.comparison(operator, *x, *y),
            ExprKind::Binary(operator, x, y) if y.width.is_wide() => {
                let x = self.narrow(*x);
                let count = match operator {
                    BinaryOperator::RotateLeft | BinaryOperator::RotateRight => self.turns(*y, x.width.bits()),
                    _ => self.count(*y),
                };
                Expr::binary(operator, x, count)
            }
            _ => {
                for part in expr.parts_mut() {
                    let taken = std::mem::replace(part, Expr::constant(Width::BIT, 0));
                    *part = self.narrow(taken);
                }
                expr
            }
        }
    }

    /// Splits a wide expression into its halves.
    fn halves(&mut self, expr: Expr) -> Halves {
        let rest = above(expr.width).unwrap_or(Width::BIT);
        let halves = match expr.kind {
            ExprKind::Local(local) => {
                let upper = self.upper(local).unwrap_or(local);
                Halves { low: Expr::local(Width::MAX, local), high: Expr::local(rest, upper) }
            }
            ExprKind::Join(..) | ExprKind::Slice(..) => {
                let pieces = self.pieces(expr);
                Halves { low: gather(&pieces, 0, Width::MAX), high: gather(&pieces, Width::MAX.bits(), rest) }
            }
            ExprKind::ZeroExtend(inner) if inner.width.is_wide() => {
                let Halves { low, high } = self.halves(*inner);
                Halves { low, high: Expr::zero_extend(rest, high) }
            }
            ExprKind::SignExtend(inner) if inner.width.is_wide() => {
                let Halves { low, high } = self.halves(*inner);
                Halves { low, high: Expr::sign_extend(rest, high) }
            }
            ExprKind::ZeroExtend(inner) => {
                let low = Expr::zero_extend(Width::MAX, self.narrow(*inner));
                Halves { low, high: Expr::constant(rest, 0) }
            }
            ExprKind::SignExtend(inner) => {
                let inner = self.narrow(*inner);
                let inner = self.keep(inner);
                let sign = Expr::slice(inner.clone(), inner.width.bits() - 1, Width::BIT);
                Halves { low: Expr::sign_extend(Width::MAX, inner), high: Expr::sign_extend(rest, sign) }
            }
            ExprKind::Choose(condition, x, y) => {
                let condition = self.narrow(*condition);
                let condition = self.keep(condition);
                let (x, y) = (self.halves(*x), self.halves(*y));
                x.each(y, |x, y| Expr::choose(condition.clone(), x, y))
            }
            ExprKind::Unary(operator, x) => {
                let x = self.halves(*x);
                match operator {
                    UnaryOperator::Not => Halves { low: not(x.low), high: not(x.high) },
                    UnaryOperator::Negate => {
                        let zero = Halves { low: Expr::constant(Width::MAX, 0), high: Expr::constant(rest, 0) };
                        self.difference(zero, x)
                    }
                }
            }
            ExprKind::Binary(operator, x, y) if operator.takes_count() => {
                let x = self.halves(*x);
                self.moved(operator, x, *y)
            }
            ExprKind::Binary(operator, x, y) => {
                let signs = [&x, &y].map(|side| matches!(&side.kind, ExprKind::SignExtend(x) if !x.width.is_wide()));
                let (x, y) = (self.halves(*x), self.halves(*y));
                match operator {
                    BinaryOperator::Add => self.sum(x, y),
                    BinaryOperator::Subtract => self.difference(x, y),
                    BinaryOperator::Multiply => self.product(&x, &y, signs),
                    _ => x.each(y, |x, y| binary(operator, x, y)),
                }
            }
            // Nothing else has more than 64 bits.
            _ => Halves { low: Expr { width: Width::MAX, ..expr }, high: Expr::constant(rest, 0) },
        };
        self.keep_both(halves)
    }

    /// Returns the parts that a value is joined from, lowest first, each of at most 64 bits.
    fn pieces(&mut self, expr: Expr) -> Vec<Expr> {
        match expr.kind {
            ExprKind::Join(high, low) => {
                let mut pieces = self.pieces(*low);
                pieces.extend(self.pieces(*high));
                pieces
            }
            ExprKind::Slice(inner, low) if expr.width.is_wide() => {
                let inner = self.pieces(*inner);
                let rest = above(expr.width).unwrap_or(Width::BIT);
                vec![gather(&inner, low, Width::MAX), gather(&inner, low + Width::MAX.bits(), rest)]
            }
            _ if expr.width.is_wide() => {
                let Halves { low, high } = self.halves(expr);
                vec![low, high]
            }
            _ => {
                let piece = self.narrow(expr);
                vec![self.keep(piece)]
            }
        }
    }

    fn comparison(&mut self, operator: BinaryOperator, x: Expr, y: Expr) -> Expr {
        use BinaryOperator::{And, Equal, Less, LessOrEqual, LessOrEqualSigned, LessSigned, Or, Unequal};
        let (x, y) = (self.halves(x), self.halves(y));
        let low = |operator| binary(operator, x.low.clone(), y.low.clone());
        let high = |operator| binary(operator, x.high.clone(), y.high.clone());
        let ordered = |above, below| binary(Or, high(above), binary(And, high(Equal), low(below)));
        match operator {
            Equal => binary(And, high(Equal), low(Equal)),
            Unequal => binary(Or, high(Unequal), low(Unequal)),
            LessOrEqual => ordered(Less, LessOrEqual),
            LessSigned => ordered(LessSigned, Less),
            LessOrEqualSigned => ordered(LessSigned, LessOrEqual),
            _ => ordered(Less, Less),
        }
    }

    fn sum(&mut self, x: Halves, y: Halves) -> Halves {
        let low = binary(BinaryOperator::Add, x.low.clone(), y.low);
        let low = self.keep(low);
        let carry = match low == x.low {
            true => Expr::constant(Width::BIT, 0),
            false => binary(BinaryOperator::Less, low.clone(), x.low),
        };
        let carry = Expr::zero_extend(x.high.width, carry);
        let high = binary(BinaryOperator::Add, x.high, y.high);
        Halves { low, high: binary(BinaryOperator::Add, high, carry) }
    }

    fn difference(&mut self, x: Halves, y: Halves) -> Halves {
        let borrow = binary(BinaryOperator::Less, x.low.clone(), y.low.clone());
        let borrow = Expr::zero_extend(x.high.width, borrow);
        let high = binary(BinaryOperator::Subtract, x.high, y.high);
        Halves {
            low: binary(BinaryOperator::Subtract, x.low, y.low),
            high: binary(BinaryOperator::Subtract, high, borrow),
        }
    }

    /// Multiplies; `signs` says whose upper half is just copies of a sign.
    fn product(&mut self, x: &Halves, y: &Halves, signs: [bool; 2]) -> Halves {
        use BinaryOperator::{Add, Multiply, Subtract};
        let rest = x.high.width;
        let upper = self.upper_product(&x.low, &y.low);
        let mut high = bits(upper, 0, rest);
        for (of, other, is_sign) in [(x, y, signs[0]), (y, x, signs[1])] {
            let low = bits(other.low.clone(), 0, rest);
            high = match is_sign {
                // Minus one times a value is its negation.
                true => {
                    let is_negative = Expr::slice(of.low.clone(), Width::MAX.bits() - 1, Width::BIT);
                    binary(Subtract, high, Expr::choose(is_negative, low, Expr::constant(rest, 0)))
                }
                false => binary(Add, high, binary(Multiply, low, of.high.clone())),
            };
        }
        Halves { low: binary(Multiply, x.low.clone(), y.low.clone()), high }
    }

    /// Computes the upper 64 bits of the product of two 64-bit values, from 32-bit products.
    fn upper_product(&mut self, x: &Expr, y: &Expr) -> Expr {
        use BinaryOperator::{Add, Multiply};
        let part = |value: &Expr, low| Expr::zero_extend(Width::MAX, bits(value.clone(), low, Width::FOUR_BYTES));
        let [x0, x1, y0, y1] = [(x, 0), (x, 32), (y, 0), (y, 32)].map(|(value, low)| self.keep(part(value, low)));
        let lowest = self.keep(binary(Multiply, x0.clone(), y0.clone()));
        let one = self.keep(binary(Add, binary(Multiply, x1.clone(), y0), part(&lowest, 32)));
        let two = self.keep(binary(Add, binary(Multiply, x0, y1.clone()), part(&one, 0)));
        let highest = binary(Add, binary(Multiply, x1, y1), part(&one, 32));
        let highest = binary(Add, highest, part(&two, 32));
        self.keep(highest)
    }

    /// Shifts or rotates.
    fn moved(&mut self, operator: BinaryOperator, x: Halves, count: Expr) -> Halves {
        use BinaryOperator::{Or, RotateLeft, RotateRight, ShiftLeft, Subtract};
        if let RotateLeft | RotateRight = operator {
            let whole = x.bits();
            let turns = self.turns(count, whole);
            let turns = self.keep(turns);
            let back = self.keep(binary(Subtract, Expr::constant(Width::MAX, u64::from(whole)), turns.clone()));
            let (left, right) = if operator == RotateLeft { (turns, back) } else { (back, turns) };
            let (upper, lower) = (self.shifted_left(&x, &left, false), self.shifted_right(&x, &right, false, false));
            return upper.each(lower, |x, y| binary(Or, x, y));
        }
        let is_near = count.width.bits() <= 6;
        let count = self.count(count);
        let count = self.keep(count);
        match operator {
            ShiftLeft => self.shifted_left(&x, &count, is_near),
            _ => self.shifted_right(&x, &count, operator == BinaryOperator::ShiftRightSigned, is_near),
        }
    }

    /// Returns the distance of a shift, in 64 bits.
    fn count(&mut self, count: Expr) -> Expr {
        if !count.width.is_wide() {
            let count = self.narrow(count);
            return Expr::zero_extend(Width::MAX, count);
        }
        let Halves { low, high } = self.halves(count);
        let is_near = binary(BinaryOperator::Equal, high.clone(), Expr::constant(high.width, 0));
        Expr::choose(is_near, low, Expr::constant(Width::MAX, u64::MAX))
    }

    /// Returns the distance of a rotation of `whole` bits: the remainder of its count, in 64 bits.
    fn turns(&mut self, count: Expr, whole: u32) -> Expr {
        use BinaryOperator::{Add, Multiply, Remainder};
        let number = |value| Expr::constant(Width::MAX, value);
        let within = |count: Expr| Expr::binary(Remainder, count, number(u64::from(whole)));
        if !count.width.is_wide() {
            let count = self.narrow(count);
            return within(Expr::zero_extend(Width::MAX, count));
        }
        let Halves { low, high } = self.halves(count);
        let high = within(Expr::zero_extend(Width::MAX, high));
        let above = number(((1u128 << 64) % u128::from(whole)) as u64);
        within(binary(Add, within(low), binary(Multiply, high, above)))
    }

    /// Computes the bits that move from one half to the other in a shift by `count`: those of a shift by less than 64
    /// bits and, unless `is_near`, those of a longer one. One of the two is always zero.
    fn crossing(&mut self, half: &Expr, count: &Expr, left: bool, is_near: bool) -> Expr {
        use BinaryOperator::{Or, ShiftLeft, ShiftRight, Subtract};
        let (far, near) = if left { (ShiftLeft, ShiftRight) } else { (ShiftRight, ShiftLeft) };
        let whole = Expr::constant(Width::MAX, 64);
        // Negative differences wrap to huge counts, which shift everything out.
        let near = binary(near, half.clone(), binary(Subtract, whole.clone(), count.clone()));
        if is_near {
            return near;
        }
        let far = binary(far, half.clone(), binary(Subtract, count.clone(), whole));
        binary(Or, near, far)
    }

    fn shifted_left(&mut self, x: &Halves, count: &Expr, is_near: bool) -> Halves {
        use BinaryOperator::{Or, ShiftLeft};
        let crossing = bits(self.crossing(&x.low, count, true, is_near), 0, x.high.width);
        let high = binary(Or, binary(ShiftLeft, x.high.clone(), count.clone()), crossing);
        Halves { low: binary(ShiftLeft, x.low.clone(), count.clone()), high }
    }

    fn shifted_right(&mut self, x: &Halves, count: &Expr, signed: bool, is_near: bool) -> Halves {
        use BinaryOperator::{Less, Or, ShiftRight, ShiftRightSigned, Subtract};
        let low = binary(ShiftRight, x.low.clone(), count.clone());
        if !signed {
            let above = self.keep(Expr::zero_extend(Width::MAX, x.high.clone()));
            let low = binary(Or, low, self.crossing(&above, count, false, is_near));
            return Halves { low, high: binary(ShiftRight, x.high.clone(), count.clone()) };
        }
        let above = self.keep(Expr::sign_extend(Width::MAX, x.high.clone()));
        let near = binary(Or, low, self.crossing(&above, count, false, true));
        let high = binary(ShiftRightSigned, x.high.clone(), count.clone());
        if is_near {
            return Halves { low: near, high };
        }
        let whole = Expr::constant(Width::MAX, 64);
        let far = binary(ShiftRightSigned, above, binary(Subtract, count.clone(), whole.clone()));
        Halves { low: Expr::choose(binary(Less, count.clone(), whole), near, far), high }
    }
}

fn not(x: Expr) -> Expr {
    Expr::unary(UnaryOperator::Not, x)
}

/// Takes some of the bits that pieces of at most 64 bits make up, lowest first.
fn gather(pieces: &[Expr], low: u32, width: Width) -> Expr {
    let (end, mut at) = (low + width.bits(), 0);
    let mut gathered: Option<Expr> = None;
    for piece in pieces {
        let (from, to) = (low.max(at), end.min(at + piece.width.bits()));
        if let Some(width) = to.checked_sub(from).and_then(|bits| Width::new(u64::from(bits))) {
            let part = bits(piece.clone(), from - at, width);
            gathered = Some(match gathered {
                Some(below) => Expr::join(part, below),
                None => part,
            });
        }
        at += piece.width.bits();
    }
    gathered.unwrap_or(Expr::constant(width, 0))
}

/// Takes some of the bits of a value, from the parts it is made of.
fn bits(x: Expr, low: u32, width: Width) -> Expr {
    match x.kind {
        ExprKind::ZeroExtend(inner) if low >= inner.width.bits() => Expr::constant(width, 0),
        ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner) if low + width.bits() <= inner.width.bits() => {
            bits(*inner, low, width)
        }
        ExprKind::Slice(inner, above) => Expr::slice(*inner, above + low, width),
        _ => Expr::slice(x, low, width),
    }
}

/// Makes a binary operation, simplified if possible: halves are often zero.
fn binary(operator: BinaryOperator, x: Expr, y: Expr) -> Expr {
    use BinaryOperator::{Add, And, Less, Multiply, Or, ShiftLeft, ShiftRight, ShiftRightSigned, Subtract, Xor};
    let mask = x.width.mask();
    match (operator, x.as_constant(), y.as_constant()) {
        (Add | Or | Xor, Some(0), None) => y,
        (Add | Subtract | Or | Xor | ShiftLeft | ShiftRight | ShiftRightSigned, None, Some(0)) => x,
        (And | Multiply | ShiftLeft | ShiftRight, Some(0), None) => x,
        (And | Multiply, None, Some(0)) => y,
        (Multiply, Some(1), None) => y,
        (Multiply, None, Some(1)) => x,
        (And, Some(ones), None) if ones == mask => y,
        (And, None, Some(ones)) if ones == mask => x,
        (ShiftLeft | ShiftRight, None, Some(count)) if count >= u64::from(x.width.bits()) => Expr::constant(x.width, 0),
        (Less, None, Some(0)) => Expr::constant(Width::BIT, 0),
        (And | Or, None, None) if x == y => x,
        _ => Expr::binary(operator, x, y),
    }
}
