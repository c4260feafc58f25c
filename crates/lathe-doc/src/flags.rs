//! What an instruction does to flags: registers of one bit, and named bits of registers. Each bit of such a register is
//! followed through the meaning; a bit with an unknown result counts as changed.

use std::collections::BTreeMap;

use lathe_isa::Isa;
use lathe_isa::model::{Domain, Instruction, Place, RegisterId};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Block, Expr, ExprKind, Statement};
use serde::Serialize;

/// What an instruction does to a flag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// Its name.
    pub name: String,
    /// `0` or `1` if the flag is always set to that, `changed` otherwise.
    pub effect: String,
}

/// Whether a view is a flag: one bit of a larger register.
pub(crate) fn is_flag(isa: &Isa, view: &Place) -> bool {
    matches!(&view.parts[..], [part] if view.width.bits() == 1 && !isa.register(part.register).is_flag())
}

/// Returns the flags that an instruction writes in any of its modes.
pub(crate) fn flags(isa: &Isa, modes: &[&Instruction]) -> Vec<Flag> {
    let views = isa.views.iter().filter(|view| is_flag(isa, &view.place));
    let views = views.map(|view| (view.name.as_str(), view.place.parts[0].register, view.place.parts[0].low));
    let registers = isa.registers.iter().zip(0..).filter(|(register, _)| register.is_flag());
    let all = views.chain(registers.map(|(register, id)| (register.name.as_str(), RegisterId(id), 0)));
    let mut followed: BTreeMap<RegisterId, Vec<Bit>> = BTreeMap::new();
    all.filter_map(|(name, register, bit)| {
        let bits = followed.entry(register).or_insert_with(|| {
            let ends = modes.iter().map(|instruction| Follower::new(isa, instruction, register).end());
            ends.reduce(|one, other| each(&one, &other, either)).unwrap_or_default()
        });
        let effect = match *bits.get(bit as usize)? {
            Bit::Old(old) if old == bit => return None,
            Bit::Known(value) => u8::from(value).to_string(),
            Bit::Old(_) | Bit::Any => "changed".to_owned(),
        };
        Some(Flag { name: name.to_owned(), effect })
    })
    .collect()
}

/// What is known about a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bit {
    /// This bit of the register as it was before the instruction.
    Old(u32),
    Known(bool),
    Any,
}

/// Follows the bits of one register through a meaning.
struct Follower<'i> {
    isa: &'i Isa,
    instruction: &'i Instruction,
    register: RegisterId,
    now: Vec<Bit>,
    locals: BTreeMap<u16, Vec<Bit>>,
}

impl<'i> Follower<'i> {
    fn new(isa: &'i Isa, instruction: &'i Instruction, register: RegisterId) -> Self {
        let now = (0..isa.register(register).width.bits()).map(Bit::Old).collect();
        Follower { isa, instruction, register, now, locals: BTreeMap::new() }
    }

    /// Returns the bits after the instruction.
    fn end(mut self) -> Vec<Bit> {
        self.block(&self.instruction.body.block);
        self.now
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            match statement {
                Statement::Let(local, value) => {
                    let bits = self.bits(value);
                    self.locals.insert(local.0, bits);
                }
                Statement::SetRegister(register, value) if *register == self.register => self.now = self.bits(value),
                Statement::SetOperand(operand, _) if self.may_be(usize::from(operand.0)) => self.now.fill(Bit::Any),
                Statement::If { then, otherwise, .. } => {
                    let before = (self.now.clone(), self.locals.clone());
                    self.block(then);
                    let now = std::mem::replace(&mut self.now, before.0);
                    let locals = std::mem::replace(&mut self.locals, before.1);
                    self.block(otherwise);
                    self.now = each(&self.now, &now, either);
                    self.locals.retain(|local, bits| locals.get(local) == Some(bits));
                }
                _ => {}
            }
        }
    }

    /// Whether an operand can name the register, or a view of it.
    fn may_be(&self, operand: usize) -> bool {
        let field = self.isa.field(self.instruction.operands[operand]);
        let Domain::Registers(list) = &field.domain else { return false };
        list.iter().flatten().any(|(_, place)| place.parts.iter().any(|part| part.register == self.register))
    }

    /// Returns the bits of a value, lowest first.
    fn bits(&self, value: &Expr) -> Vec<Bit> {
        let width = value.width.bits() as usize;
        let mut bits = match &value.kind {
            ExprKind::Constant(number) => (0..width).map(|at| Bit::Known(number >> at & 1 == 1)).collect(),
            ExprKind::Local(local) => self.locals.get(&local.0).cloned().unwrap_or_default(),
            ExprKind::Register(register) if *register == self.register => self.now.clone(),
            ExprKind::Slice(inner, low) => self.bits(inner).split_off(*low as usize),
            ExprKind::Join(high, low) => [self.bits(low), self.bits(high)].concat(),
            ExprKind::ZeroExtend(inner) => {
                let mut bits = self.bits(inner);
                bits.resize(width, Bit::Known(false));
                bits
            }
            ExprKind::Binary(BinaryOperator::And, one, other) => {
                each(&self.bits(one), &self.bits(other), |one, other| settled_by(false, one, other))
            }
            ExprKind::Binary(BinaryOperator::Or, one, other) => {
                each(&self.bits(one), &self.bits(other), |one, other| settled_by(true, one, other))
            }
            ExprKind::Choose(_, one, other) => each(&self.bits(one), &self.bits(other), either),
            _ => Vec::new(),
        };
        bits.resize(width, Bit::Any);
        bits
    }
}

fn each(one: &[Bit], other: &[Bit], operation: impl Fn(Bit, Bit) -> Bit) -> Vec<Bit> {
    one.iter().zip(other).map(|(one, other)| operation(*one, *other)).collect()
}

/// Returns what is known of a bit that may be one or the other.
fn either(one: Bit, other: Bit) -> Bit {
    if one == other { one } else { Bit::Any }
}

/// Combines two bits by AND, which a 0 settles, or by OR, which a 1 settles; `value` is that bit.
fn settled_by(value: bool, one: Bit, other: Bit) -> Bit {
    match (one, other) {
        (Bit::Known(known), _) | (_, Bit::Known(known)) if known == value => Bit::Known(value),
        (Bit::Known(_), bit) | (bit, Bit::Known(_)) => bit,
        _ => either(one, other),
    }
}
