//! What an instruction does: inlined, unrolled, fully typed. Every back end reads this form.
//!
//! Invariants:
//! - every expression knows its width, and its operands have the widths its operator needs. No width is above 64: wider
//!   ones exist only while a meaning is elaborated;
//! - expressions are pure: they read registers, locals and operands, nothing else. Memory and devices are accessed by
//!   statements, so accesses happen in the order of the list;
//! - there are no loops and no calls, so every body ends after at most as many steps as it has statements.

use lathe_base::Width;

use crate::Isa;
use crate::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};
use crate::operators::{BinaryOperator, UnaryOperator};

/// The meaning of one row, or of one side of a mapped address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The width of each local.
    pub locals: Vec<Width>,
    /// What is done.
    pub block: Block,
    /// Its value, if it has one, as on the read side of a mapped address.
    pub value: Option<Expr>,
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// A local of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u16);

/// An operand of the instruction, in the order of its syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandId(pub u8);

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Gives a local a value.
    Let(LocalId, Expr),
    /// Writes a register. Writes to constant registers have been dropped already.
    SetRegister(RegisterId, Expr),
    /// Writes the register or view that an operand names.
    SetOperand(OperandId, Expr),
    /// Reads adjacent cells into a local, the one at the lowest address first.
    /// [`Memory::layout`](crate::model::Memory::layout) says where each is in the value.
    Load {
        /// The local, as wide as the cells together.
        into: LocalId,
        /// The memory.
        memory: MemoryId,
        /// The lowest address, of that memory's width. Addresses wrap from the last cell to the first.
        address: Expr,
        /// How many cells.
        cells: u8,
    },
    /// Writes adjacent cells, the one at the lowest address first.
    Store {
        /// The memory.
        memory: MemoryId,
        /// The lowest address, of that memory's width. Addresses wrap from the last cell to the first.
        address: Expr,
        /// How many cells.
        cells: u8,
        /// The value, as wide as the cells together.
        value: Expr,
    },
    /// Asks a device for a value.
    DeviceRead {
        /// The local that takes the value.
        into: LocalId,
        /// The device.
        device: DeviceId,
        /// Which of its operations.
        operation: DeviceOperation,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// Gives a device values.
    DeviceWrite {
        /// The device.
        device: DeviceId,
        /// Which of its operations.
        operation: DeviceOperation,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// Execution continues at this address instead of at the next instruction.
    Jump(Expr),
    /// The machine stops after this instruction.
    Halt,
    /// The machine stops in the state before this instruction.
    Fault {
        /// The message for people.
        message: String,
        /// A number to go with it.
        detail: Option<Expr>,
    },
    /// The instruction takes this many more cycles.
    Cycles(Expr),
    /// Executes one block or the other.
    If {
        /// One bit.
        condition: Expr,
        /// If the condition is 1.
        then: Block,
        /// If the condition is 0.
        otherwise: Block,
    },
}

/// A pure expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// How many bits the value has.
    pub width: Width,
    /// How the value is computed.
    pub kind: ExprKind,
}

/// How the value of an expression is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A number.
    Constant(u64),
    /// A local.
    Local(LocalId),
    /// The value of a register.
    Register(RegisterId),
    /// The value of the operand: of the register or view it names, or the number or address it stands for.
    Operand(OperandId),
    /// The bits of the operand in the encoding: the number of the register that it names.
    Code(OperandId),
    /// The address of this instruction.
    Pc,
    /// The address of the next instruction in memory.
    Next,
    /// One operand.
    Unary(UnaryOperator, Box<Expr>),
    /// Two operands.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// The bits from `low` up, as many as the width.
    Slice(Box<Expr>, u32),
    /// The first above the second.
    Join(Box<Expr>, Box<Expr>),
    /// With zeros above.
    ZeroExtend(Box<Expr>),
    /// With copies of the sign above.
    SignExtend(Box<Expr>),
    /// The second if the first is 1, else the third.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Constructors that compute what is already known.
impl Expr {
    /// Makes a number of at most 64 bits; a wider one is joined from two.
    pub fn constant(width: Width, value: u64) -> Expr {
        Expr { width, kind: ExprKind::Constant(width.wrap(value)) }
    }

    /// Makes the value of a local.
    pub fn local(width: Width, local: LocalId) -> Expr {
        Expr { width, kind: ExprKind::Local(local) }
    }

    /// Returns the number if the expression is a constant.
    pub fn as_constant(&self) -> Option<u64> {
        match self.kind {
            ExprKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Applies an operator to one operand.
    pub fn unary(operator: UnaryOperator, x: Expr) -> Expr {
        let width = x.width;
        match x.as_constant() {
            Some(value) => Expr::constant(width, operator.apply(width, value)),
            None => Expr { width, kind: ExprKind::Unary(operator, Box::new(x)) },
        }
    }

    /// Applies an operator to two operands.
    pub fn binary(operator: BinaryOperator, x: Expr, y: Expr) -> Expr {
        let operands = x.width;
        let width = if operator.is_comparison() { Width::BIT } else { operands };
        match (x.as_constant(), y.as_constant()) {
            (Some(a), Some(b)) => Expr::constant(width, operator.apply(operands, a, b)),
            _ => Expr { width, kind: ExprKind::Binary(operator, Box::new(x), Box::new(y)) },
        }
    }

    /// Takes some of the bits of `x`, from `low` up.
    pub fn slice(x: Expr, low: u32, width: Width) -> Expr {
        if low == 0 && width == x.width {
            return x;
        }
        match x.as_constant() {
            Some(value) => Expr::constant(width, value >> low),
            None => Expr { width, kind: ExprKind::Slice(Box::new(x), low) },
        }
    }

    /// Joins `high` above `low`; together they must have at most 128 bits.
    pub fn join(high: Expr, low: Expr) -> Expr {
        let width = high.width.joined(low.width).unwrap_or(Width::WIDEST);
        match (high.as_constant(), low.as_constant()) {
            (Some(a), Some(b)) if !width.is_wide() => Expr::constant(width, (a << low.width.bits()) | b),
            _ => Expr { width, kind: ExprKind::Join(Box::new(high), Box::new(low)) },
        }
    }

    /// Extends `x` with zeros.
    pub fn zero_extend(width: Width, x: Expr) -> Expr {
        match x.as_constant() {
            _ if width == x.width => x,
            Some(value) if !width.is_wide() => Expr::constant(width, value),
            _ => Expr { width, kind: ExprKind::ZeroExtend(Box::new(x)) },
        }
    }

    /// Extends `x` with copies of its sign.
    pub fn sign_extend(width: Width, x: Expr) -> Expr {
        match x.as_constant() {
            _ if width == x.width => x,
            Some(value) if !width.is_wide() => Expr::constant(width, x.width.signed(value) as u64),
            _ => Expr { width, kind: ExprKind::SignExtend(Box::new(x)) },
        }
    }

    /// Replaces the bits of `old` from `low` up with `bits`.
    pub fn replace(old: Expr, low: u32, bits: Expr) -> Expr {
        let part =
            |low: u32, count: u32| Width::computed(u64::from(count)).map(|width| Expr::slice(old.clone(), low, width));
        let top = low + bits.width.bits();
        let (above, below) = (part(top, old.width.bits() - top), part(0, low));
        let value = match above {
            Some(above) => Expr::join(above, bits),
            None => bits,
        };
        match below {
            Some(below) => Expr::join(value, below),
            None => value,
        }
    }

    /// Makes `x` if the condition is 1, else `y`.
    pub fn choose(condition: Expr, x: Expr, y: Expr) -> Expr {
        match condition.as_constant() {
            Some(0) => y,
            Some(_) => x,
            None => {
                let width = x.width;
                Expr { width, kind: ExprKind::Choose(Box::new(condition), Box::new(x), Box::new(y)) }
            }
        }
    }

    /// Adds a number.
    #[must_use]
    pub fn plus(self, number: u64) -> Expr {
        let width = self.width;
        match number {
            0 => self,
            _ => Expr::binary(BinaryOperator::Add, self, Expr::constant(width, number)),
        }
    }

    /// Whether the value is the same wherever in the body it is evaluated, given that the locals it reads are not
    /// assigned again.
    pub fn is_settled(&self) -> bool {
        let mut settled = true;
        self.visit(&mut |expr| settled &= !matches!(expr.kind, ExprKind::Register(_) | ExprKind::Operand(_)));
        settled
    }

    /// Whether the expression is a leaf, or some bits of one, so that using it twice costs nothing.
    pub fn is_short(&self) -> bool {
        match &self.kind {
            ExprKind::Slice(x, _) | ExprKind::ZeroExtend(x) | ExprKind::SignExtend(x) => x.is_single(),
            _ => self.is_single(),
        }
    }

    fn is_single(&self) -> bool {
        use ExprKind::{Code, Constant, Local, Next, Operand, Pc, Register};
        matches!(self.kind, Constant(_) | Local(_) | Register(_) | Operand(_) | Code(_) | Pc | Next)
    }

    /// Calls `see` for the expression and every part of it.
    pub fn visit(&self, see: &mut impl FnMut(&Expr)) {
        see(self);
        match &self.kind {
            ExprKind::Unary(_, x) | ExprKind::Slice(x, _) | ExprKind::ZeroExtend(x) | ExprKind::SignExtend(x) => {
                x.visit(see);
            }
            ExprKind::Binary(_, x, y) | ExprKind::Join(x, y) => {
                x.visit(see);
                y.visit(see);
            }
            ExprKind::Choose(condition, x, y) => {
                condition.visit(see);
                x.visit(see);
                y.visit(see);
            }
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Register(_)
            | ExprKind::Operand(_)
            | ExprKind::Code(_)
            | ExprKind::Pc
            | ExprKind::Next => {}
        }
    }

    fn visit_registers(&self, see: &mut impl FnMut(RegisterId, Use)) {
        self.visit(&mut |part| {
            if let ExprKind::Register(register) = part.kind {
                see(register, Use::Read);
            }
        });
    }

    /// Replaces leaves, which no operator computes, with what `other` returns for them, if anything.
    pub fn replace_leaves(&mut self, other: &mut impl FnMut(&Expr) -> Option<Expr>) {
        let parts = self.parts_mut();
        if !parts.is_empty() {
            parts.into_iter().for_each(|part| part.replace_leaves(other));
        } else if let Some(other) = other(self) {
            *self = other;
        }
    }

    /// Evaluates the expression, given the values of its leaves.
    pub fn evaluate(&self, leaf: &impl Fn(&ExprKind) -> u64) -> u64 {
        self.operate(|part| part.evaluate(leaf)).unwrap_or_else(|| leaf(&self.kind))
    }

    /// Evaluates the expression, given the values of its parts; nothing if no operator computes it.
    #[inline]
    pub fn operate(&self, value: impl Fn(&Expr) -> u64) -> Option<u64> {
        Some(match &self.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Unary(operator, x) => operator.apply(self.width, value(x)),
            ExprKind::Binary(operator, x, y) => operator.apply(x.width, value(x), value(y)),
            ExprKind::Slice(x, low) => self.width.wrap(value(x) >> low),
            ExprKind::Join(high, low) => (value(high) << low.width.bits()) | value(low),
            ExprKind::ZeroExtend(x) => value(x),
            ExprKind::SignExtend(x) => self.width.wrap(x.width.signed(value(x)) as u64),
            ExprKind::Choose(condition, x, y) => value(if value(condition) != 0 { x } else { y }),
            _ => return None,
        })
    }

    /// Returns the number of levels: one for a leaf.
    pub(crate) fn depth(&self) -> u32 {
        let inner = match &self.kind {
            ExprKind::Unary(_, x) | ExprKind::Slice(x, _) | ExprKind::ZeroExtend(x) | ExprKind::SignExtend(x) => {
                x.depth()
            }
            ExprKind::Binary(_, x, y) | ExprKind::Join(x, y) => x.depth().max(y.depth()),
            ExprKind::Choose(condition, x, y) => condition.depth().max(x.depth()).max(y.depth()),
            _ => 0,
        };
        1 + inner
    }
}

impl Expr {
    /// Returns the parts of the expression, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Unary(_, x) | ExprKind::Slice(x, _) | ExprKind::ZeroExtend(x) | ExprKind::SignExtend(x) => {
                vec![x]
            }
            ExprKind::Binary(_, x, y) | ExprKind::Join(x, y) => vec![x, y],
            ExprKind::Choose(condition, x, y) => vec![condition, x, y],
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Register(_)
            | ExprKind::Operand(_)
            | ExprKind::Code(_)
            | ExprKind::Pc
            | ExprKind::Next => Vec::new(),
        }
    }
}

impl Statement {
    /// Returns the expressions that the statement itself evaluates, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Statement::Let(_, value)
            | Statement::SetRegister(_, value)
            | Statement::SetOperand(_, value)
            | Statement::Jump(value)
            | Statement::Cycles(value) => vec![value],
            Statement::Load { address, .. } => vec![address],
            Statement::Store { address, value, .. } => vec![address, value],
            Statement::DeviceRead { arguments, .. } | Statement::DeviceWrite { arguments, .. } => {
                arguments.iter_mut().collect()
            }
            Statement::Halt => Vec::new(),
            Statement::Fault { detail, .. } => detail.iter_mut().collect(),
            Statement::If { condition, .. } => vec![condition],
        }
    }

    /// Returns the expressions that the statement itself evaluates, without those of its blocks.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let (first, second, others): (_, _, &[Expr]) = match self {
            Statement::Let(_, value)
            | Statement::SetRegister(_, value)
            | Statement::SetOperand(_, value)
            | Statement::Jump(value)
            | Statement::Cycles(value) => (Some(value), None, &[]),
            Statement::Load { address, .. } => (Some(address), None, &[]),
            Statement::Store { address, value, .. } => (Some(address), Some(value), &[]),
            Statement::DeviceRead { arguments, .. } | Statement::DeviceWrite { arguments, .. } => {
                (None, None, arguments)
            }
            Statement::Halt => (None, None, &[]),
            Statement::Fault { detail, .. } => (detail.as_ref(), None, &[]),
            Statement::If { condition, .. } => (Some(condition), None, &[]),
        };
        first.into_iter().chain(second).chain(others)
    }

    /// Calls `see` for the statement and every statement inside it.
    pub fn visit(&self, see: &mut impl FnMut(&Statement)) {
        see(self);
        if let Statement::If { then, otherwise, .. } = self {
            then.iter().chain(otherwise).for_each(|inner| inner.visit(see));
        }
    }

    /// Returns what the statement may do, including the statements inside it.
    pub fn effects(&self) -> Effects {
        let mut effects = Effects::default();
        self.visit(&mut |statement| effects.add_statement(statement));
        effects
    }
}

/// Splits some of the accesses of a block.
fn apart(isa: &Isa, wanted: &dyn Fn(MemoryId, u8) -> bool, block: &[Statement], locals: &mut Vec<Width>) -> Block {
    let mut out = Block::new();
    let keep = |expr: &Expr, locals: &mut Vec<Width>, out: &mut Block| {
        if expr.is_short() && expr.is_settled() {
            return expr.clone();
        }
        let local = new_local(locals, expr.width);
        out.push(Statement::Let(local, expr.clone()));
        Expr::local(expr.width, local)
    };
    for statement in block {
        match statement {
            Statement::Load { into, memory, address, cells } if *cells > 1 && wanted(*memory, *cells) => {
                let address = keep(address, locals, &mut out);
                let (described, mut parts) = (isa.memory(*memory), Vec::new());
                for (offset, _) in described.layout(*cells) {
                    let into = new_local(locals, described.cell);
                    out.push(Statement::Load {
                        into,
                        memory: *memory,
                        address: address.clone().plus(offset),
                        cells: 1,
                    });
                    parts.push(Expr::local(described.cell, into));
                }
                let whole = described.highest_first(parts).into_iter().reduce(Expr::join);
                out.extend(whole.map(|whole| Statement::Let(*into, whole)));
            }
            Statement::Store { memory, address, cells, value } if *cells > 1 && wanted(*memory, *cells) => {
                let (address, value) = (keep(address, locals, &mut out), keep(value, locals, &mut out));
                let described = isa.memory(*memory);
                out.extend(described.layout(*cells).map(|(offset, low)| Statement::Store {
                    memory: *memory,
                    address: address.clone().plus(offset),
                    cells: 1,
                    value: Expr::slice(value.clone(), low, described.cell),
                }));
            }
            Statement::If { condition, then, otherwise } => out.push(Statement::If {
                condition: condition.clone(),
                then: apart(isa, wanted, then, locals),
                otherwise: apart(isa, wanted, otherwise, locals),
            }),
            other => out.push(other.clone()),
        }
    }
    out
}

fn new_local(locals: &mut Vec<Width>, width: Width) -> LocalId {
    locals.push(width);
    LocalId((locals.len() - 1) as u16)
}

/// How something named is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written.
    Written,
}

/// What a body may touch, inferred from the body; never written by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Registers read by name, without those of operands.
    pub reads: Vec<RegisterId>,
    /// Registers written by name, without those of operands.
    pub writes: Vec<RegisterId>,
    /// Operands whose value is used.
    pub operands_read: Vec<OperandId>,
    /// Operands whose register is written.
    pub operands_written: Vec<OperandId>,
    /// Memories read.
    pub loads: Vec<MemoryId>,
    /// Memories written.
    pub stores: Vec<MemoryId>,
    /// Devices accessed.
    pub devices: Vec<DeviceId>,
    /// Whether execution may continue elsewhere than at the next instruction.
    pub jumps: bool,
    /// Whether it may halt the machine.
    pub halts: bool,
    /// Whether it may fault.
    pub faults: bool,
}

impl Body {
    /// Splits some accesses to several cells into accesses to one cell each, for tools that cannot do them together:
    /// `wanted` says which, by memory and number of cells.
    #[must_use]
    pub fn cell_by_cell(&self, isa: &Isa, wanted: &dyn Fn(MemoryId, u8) -> bool) -> Body {
        let mut body = Body { locals: self.locals.clone(), block: Block::new(), value: self.value.clone() };
        body.block = apart(isa, wanted, &self.block, &mut body.locals);
        body
    }

    /// Returns what the body may touch.
    pub fn effects(&self) -> Effects {
        let mut effects = Effects::default();
        for statement in &self.block {
            statement.visit(&mut |statement| effects.add_statement(statement));
        }
        if let Some(value) = &self.value {
            effects.add_expression(value);
        }
        effects
    }

    /// Calls `see` for each register that the body names, with how it is used; for some more than once.
    pub fn visit_registers(&self, see: &mut impl FnMut(RegisterId, Use)) {
        let mut statement = |statement: &Statement| {
            statement.expressions().for_each(|expr| expr.visit_registers(see));
            if let Statement::SetRegister(register, _) = statement {
                see(*register, Use::Written);
            }
        };
        self.block.iter().for_each(|inner| inner.visit(&mut statement));
        self.value.iter().for_each(|value| value.visit_registers(see));
    }

    /// Whether `is_it` holds for a register that the body names, with how it is used.
    pub fn any_register(&self, is_it: impl Fn(RegisterId, Use) -> bool) -> bool {
        let mut found = false;
        self.visit_registers(&mut |register, how| found = found || is_it(register, how));
        found
    }

    /// Whether the body may take more cycles than its row says.
    pub(crate) fn adds_cycles(&self) -> bool {
        self.any(|statement| matches!(statement, Statement::Cycles(_)))
    }

    /// Whether the body asks how many cycles have passed.
    pub(crate) fn reads_cycles(&self) -> bool {
        self.any(|statement| matches!(statement, Statement::DeviceRead { operation: DeviceOperation::Cycles, .. }))
    }

    fn any(&self, is_it: impl Fn(&Statement) -> bool) -> bool {
        let mut found = false;
        self.block.iter().for_each(|statement| statement.visit(&mut |inner| found |= is_it(inner)));
        found
    }
}

impl Effects {
    /// Adds what another body may touch.
    pub fn include(&mut self, other: Effects) {
        fn join<T: PartialEq>(list: &mut Vec<T>, others: Vec<T>) {
            for other in others {
                add(list, other);
            }
        }
        join(&mut self.reads, other.reads);
        join(&mut self.writes, other.writes);
        join(&mut self.operands_read, other.operands_read);
        join(&mut self.operands_written, other.operands_written);
        join(&mut self.loads, other.loads);
        join(&mut self.stores, other.stores);
        join(&mut self.devices, other.devices);
        self.jumps |= other.jumps;
        self.halts |= other.halts;
        self.faults |= other.faults;
    }

    fn add_statement(&mut self, statement: &Statement) {
        statement.expressions().for_each(|expr| self.add_expression(expr));
        match statement {
            Statement::SetRegister(register, _) => add(&mut self.writes, *register),
            Statement::SetOperand(operand, _) => add(&mut self.operands_written, *operand),
            Statement::Load { memory, .. } => add(&mut self.loads, *memory),
            Statement::Store { memory, .. } => add(&mut self.stores, *memory),
            Statement::DeviceRead { device, .. } | Statement::DeviceWrite { device, .. } => {
                add(&mut self.devices, *device);
            }
            Statement::Jump(_) => self.jumps = true,
            Statement::Halt => self.halts = true,
            Statement::Fault { .. } => self.faults = true,
            Statement::Let(..) | Statement::Cycles(_) | Statement::If { .. } => {}
        }
    }

    fn add_expression(&mut self, expr: &Expr) {
        expr.visit(&mut |expr| match expr.kind {
            ExprKind::Register(register) => add(&mut self.reads, register),
            ExprKind::Operand(operand) => add(&mut self.operands_read, operand),
            _ => {}
        });
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
