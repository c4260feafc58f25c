//! Instructions in parts, so that instructions with the same part share it. For `add` with two operands, the first part
//! locates and reads the first operand, the second part does so with the second, the operation computes, and the last
//! part stores the result. A machine with many modes has thousands of instructions, but few variants of each part: what
//! `add` computes does not depend on its operands' modes, and `sub` finds its operands in the same way.
//!
//! Only code without effects moves: a value is computed earlier than the definition says only if nothing in between can
//! change it.

use std::collections::{BTreeMap, BTreeSet};

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{Domain, FieldId, RegisterId};
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, LocalId, OperandId, Statement};

use crate::operands;

/// The signals that say which variant of each part an instruction has. Its length comes before all other parts.
pub(crate) const PARTS: [&str; 5] = ["which_length", "which_first", "which_second", "which_operation", "which_result"];

/// An instruction in its parts.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) locals: Vec<Width>,
    /// The actions of each part but the length.
    pub(crate) blocks: [Block; 4],
    /// The names of locals that one part hands to another.
    pub(crate) handed: BTreeMap<LocalId, String>,
}

impl Parts {
    /// Cuts a body without divisions and without writes that have to wait for its end. `None` if it cannot be cut.
    pub(crate) fn of(isa: &Isa, fields: &[FieldId], body: &Body) -> Option<Parts> {
        let cut = body.block.iter().rposition(reads).map_or(0, |at| at + 1);
        let (opening, rest) = body.block.split_at(cut);
        let mut assigned = BTreeMap::new();
        assignments(&body.block, &mut |local| *assigned.entry(local).or_insert(0) += 1);
        let mut given = BTreeSet::new();
        assignments(opening, &mut |local| {
            given.insert(local);
        });
        let mut cutting = Cutting {
            isa,
            fields,
            addresses: addresses(rest, &assigned),
            assigned,
            locals: body.locals.clone(),
            opening: opening.to_vec(),
            given,
            hoisted: Vec::new(),
        };
        let (mut middle, ending) = cutting.tail(rest);
        let ending = cutting.ending(&mut middle, ending);
        let Cutting { locals, opening: mut first, .. } = cutting;
        let second = first.split_off(second_operand(&first));
        let mut parts = Parts { locals, blocks: [first, second, middle, ending], handed: BTreeMap::new() };
        if parts.assigns_twice() {
            return None;
        }
        parts.name();
        Some(parts)
    }

    /// Returns the blocks, one after the other.
    pub(crate) fn body(&self) -> Body {
        Body { locals: self.locals.clone(), block: self.blocks.concat(), value: None }
    }

    fn assigned(&self) -> [BTreeSet<LocalId>; 4] {
        self.blocks.each_ref().map(|block| {
            let mut assigned = BTreeSet::new();
            assignments(block, &mut |local| {
                assigned.insert(local);
            });
            assigned
        })
    }

    /// Whether more than one part assigns to a local.
    fn assigns_twice(&self) -> bool {
        let assigned = self.assigned();
        let all: BTreeSet<LocalId> = assigned.iter().flatten().copied().collect();
        assigned.iter().map(BTreeSet::len).sum::<usize>() > all.len()
    }

    /// Names the locals that are handed on, in the order of their first use, so that parts that do the same have the
    /// same text.
    fn name(&mut self) {
        let [first, second, operation, _] = self.assigned();
        let operands = &first | &second;
        let mut counts = BTreeMap::new();
        for (to, from, stem) in
            [(2, &operands, "in"), (3, &operation, "out"), (3, &operands, "place"), (1, &first, "before")]
        {
            for_each_local(&self.blocks[to], &mut |local| {
                if from.contains(&local) && !self.handed.contains_key(&local) {
                    let bits = self.locals[usize::from(local.0)].bits();
                    let count = counts.entry((stem, bits)).or_insert(0);
                    self.handed.insert(local, format!("{stem}{bits}_{count}"));
                    *count += 1;
                }
            });
        }
    }
}

/// Returns where the second operand begins: nothing from there on is related to anything before it.
fn second_operand(opening: &[Statement]) -> usize {
    let mut last = BTreeMap::new();
    for (at, statement) in opening.iter().enumerate() {
        things(statement, &mut |thing| {
            last.insert(thing, at);
        });
    }
    let mut reach = 0;
    for (at, statement) in opening.iter().enumerate() {
        if at > reach {
            return at;
        }
        things(statement, &mut |thing| reach = reach.max(last[&thing]));
    }
    opening.len()
}

/// Something that relates statements to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Local(LocalId),
    Operand(OperandId),
}

/// Calls `see` with everything that a statement uses.
fn things(statement: &Statement, see: &mut impl FnMut(Thing)) {
    statement.effects().operands_written.into_iter().map(Thing::Operand).for_each(&mut *see);
    assignments(std::slice::from_ref(statement), &mut |local| see(Thing::Local(local)));
    statement.visit(&mut |statement| {
        for expr in statement.expressions() {
            expr.visit(&mut |expr| match expr.kind {
                ExprKind::Local(local) => see(Thing::Local(local)),
                ExprKind::Operand(operand) | ExprKind::Code(operand) => see(Thing::Operand(operand)),
                _ => {}
            });
        }
    });
}

/// Whether a statement reads a memory or asks a device.
fn reads(statement: &Statement) -> bool {
    let mut found = false;
    statement.visit(&mut |inner| found |= matches!(inner, Statement::Load { .. } | Statement::DeviceRead { .. }));
    found
}

/// Calls `see` with the local of each assignment in a block.
pub(crate) fn assignments(block: &[Statement], see: &mut impl FnMut(LocalId)) {
    for statement in block {
        statement.visit(&mut |statement| {
            if let Statement::Let(local, _)
            | Statement::Load { into: local, .. }
            | Statement::DeviceRead { into: local, .. } = statement
            {
                see(*local);
            }
        });
    }
}

/// Calls `see` with the locals that statements read, in order.
fn for_each_local(block: &[Statement], see: &mut impl FnMut(LocalId)) {
    for statement in block {
        statement.visit(&mut |statement| statement.expressions().for_each(|expr| locals_of(expr, see)));
    }
}

fn locals_of(expr: &Expr, see: &mut impl FnMut(LocalId)) {
    expr.visit(&mut |expr| {
        if let ExprKind::Local(local) = expr.kind {
            see(local);
        }
    });
}

/// Returns the locals that are assigned once and only used to compute addresses.
fn addresses(rest: &[Statement], assigned: &BTreeMap<LocalId, u32>) -> BTreeSet<LocalId> {
    let made = |statement: &Statement| match statement {
        Statement::Let(local, _) if assigned[local] == 1 => Some(*local),
        _ => None,
    };
    let mut addresses: BTreeSet<LocalId> = rest.iter().filter_map(made).collect();
    loop {
        let mut other = BTreeSet::new();
        for statement in rest {
            statement.visit(&mut |statement| match statement {
                Statement::Let(local, _) if addresses.contains(local) => {}
                Statement::Store { value, .. } => locals_of(value, &mut |local| {
                    other.insert(local);
                }),
                _ => statement.expressions().for_each(|expr| {
                    locals_of(expr, &mut |local| {
                        other.insert(local);
                    })
                }),
            });
        }
        let before = addresses.len();
        addresses.retain(|local| !other.contains(local));
        if addresses.len() == before {
            return addresses;
        }
    }
}

/// Whether an expression is the program counter combined with constants.
fn is_pc(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Pc | ExprKind::Next => true,
        ExprKind::Binary(_, x, y) => is_pc(x) && y.as_constant().is_some(),
        _ => false,
    }
}

/// A body that is being cut.
struct Cutting<'a> {
    isa: &'a Isa,
    /// The fields of the instruction's operands.
    fields: &'a [FieldId],
    /// How often each local is assigned.
    assigned: BTreeMap<LocalId, u32>,
    /// Locals that are only addresses.
    addresses: BTreeSet<LocalId>,
    locals: Vec<Width>,
    opening: Block,
    /// Locals that the opening assigns.
    given: BTreeSet<LocalId>,
    /// The operands that the opening reads at its end, with the locals that hold them.
    hoisted: Vec<(Expr, LocalId)>,
}

impl Cutting<'_> {
    /// Splits the statements after the last read into those that compute and those that store results. Statements that
    /// only compute where things are move to the opening.
    fn tail(&mut self, rest: &[Statement]) -> (Block, Block) {
        let mut middle = Block::new();
        let mut written = BTreeSet::new();
        for statement in rest {
            match statement {
                Statement::Let(local, value) if self.assigned[local] == 1 && self.belongs(*local, value, &written) => {
                    self.open(*local, value.clone());
                }
                _ => {
                    let statement = self.hoist_statement(statement, &mut written);
                    match statement {
                        Statement::Let(local, value) if self.assigned[&local] == 1 && self.is_wired(&value) => {
                            self.open(local, value);
                        }
                        statement => middle.push(statement),
                    }
                }
            }
        }
        let is_end = |statement: &Statement| {
            matches!(statement, Statement::Store { .. } | Statement::SetOperand(..) | Statement::Jump(_))
        };
        let cut = middle.iter().rposition(|statement| !is_end(statement)).map_or(0, |at| at + 1);
        let ending = middle.split_off(cut);
        (middle, ending)
    }

    fn open(&mut self, local: LocalId, value: Expr) {
        if self.is_operand(&value) {
            self.hoisted.push((value.clone(), local));
        }
        self.given.insert(local);
        self.opening.push(Statement::Let(local, value));
    }

    /// Whether a local is an operand or an address, and can be known at the end of the opening.
    fn belongs(&self, local: LocalId, value: &Expr, written: &BTreeSet<RegisterId>) -> bool {
        (self.addresses.contains(&local) || self.is_operand(value)) && self.is_known_early(value, written)
    }

    /// Whether an expression has the same value at the end of the opening as after these registers have been written.
    fn is_known_early(&self, expr: &Expr, written: &BTreeSet<RegisterId>) -> bool {
        let mut settled = true;
        expr.visit(&mut |expr| {
            settled &= match expr.kind {
                ExprKind::Local(local) => self.given.contains(&local),
                _ => !self.looks_at(expr, written),
            }
        });
        settled
    }

    /// Whether a leaf of an expression reads one of these registers.
    fn looks_at(&self, leaf: &Expr, registers: &BTreeSet<RegisterId>) -> bool {
        match leaf.kind {
            ExprKind::Register(register) => registers.contains(&register),
            ExprKind::Operand(operand) => self.registers(operand).any(|register| registers.contains(&register)),
            _ => false,
        }
    }

    fn registers(&self, operand: OperandId) -> impl Iterator<Item = RegisterId> + '_ {
        operands::registers(self.isa, self.fields[usize::from(operand.0)])
    }

    /// Whether an expression is an operand, some bits of one, a number that an operand selects, or the program counter
    /// as an operand.
    fn is_operand(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Operand(_) | ExprKind::Code(_) => true,
            ExprKind::Slice(x, _) => self.is_operand(x),
            ExprKind::Choose(..) => self.is_numeric(expr),
            _ => is_pc(expr),
        }
    }

    /// Whether an expression depends only on numbers in the instruction.
    fn is_numeric(&self, expr: &Expr) -> bool {
        let mut numeric = true;
        expr.visit(&mut |expr| {
            numeric &= match expr.kind {
                ExprKind::Operand(operand) => {
                    let field = self.isa.field(self.fields[usize::from(operand.0)]);
                    !matches!(field.domain, Domain::Registers(_))
                }
                ExprKind::Register(_) | ExprKind::Local(_) | ExprKind::Pc | ExprKind::Next => false,
                _ => true,
            }
        });
        numeric
    }

    /// Whether an expression only rearranges bits that the opening has.
    fn is_wired(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(local) => self.given.contains(local),
            ExprKind::Slice(x, _) => self.is_wired(x),
            ExprKind::Join(x, y) => self.is_wired(x) && self.is_wired(y),
            _ => false,
        }
    }

    fn new_local(&mut self, width: Width) -> LocalId {
        self.locals.push(width);
        LocalId((self.locals.len() - 1) as u16)
    }

    /// Rewrites a statement to use operands read in the opening, where nothing has changed them since. Adds the
    /// registers that the statement writes to `written`.
    fn hoist_statement(&mut self, statement: &Statement, written: &mut BTreeSet<RegisterId>) -> Statement {
        let mut statement = statement.clone();
        statement.expressions_mut().into_iter().for_each(|expr| self.hoist(expr, written));
        if let Statement::If { then, otherwise, .. } = &mut statement {
            let before = written.clone();
            then.iter_mut().for_each(|inner| *inner = self.hoist_statement(inner, written));
            let mut others = before;
            otherwise.iter_mut().for_each(|inner| *inner = self.hoist_statement(inner, &mut others));
            written.extend(others);
        } else {
            written.extend(self.writes(&statement));
        }
        statement
    }

    fn hoist(&mut self, expr: &mut Expr, written: &BTreeSet<RegisterId>) {
        if !self.is_operand(expr) {
            expr.parts_mut().into_iter().for_each(|part| self.hoist(part, written));
        } else if self.is_known_early(expr, written) {
            let local = match self.hoisted.iter().find(|(known, _)| known == expr) {
                Some((_, local)) => *local,
                None => {
                    let local = self.new_local(expr.width);
                    self.open(local, expr.clone());
                    local
                }
            };
            *expr = Expr::local(expr.width, local);
        }
    }

    /// Returns the registers that a statement without reads may write; a store may have the effects of a map.
    fn writes(&self, statement: &Statement) -> BTreeSet<RegisterId> {
        let effects = statement.effects();
        let maps = self.isa.maps.iter().filter(|map| effects.stores.contains(&map.memory));
        let mapped = maps.flat_map(|map| map.write.effects().writes);
        let named = effects.operands_written.iter().flat_map(|operand| self.registers(*operand));
        named.chain(mapped).chain(effects.writes.iter().copied()).collect()
    }

    /// Builds the ending from values that the middle computes and addresses that the opening finds. A statement that
    /// needs anything else stays in the middle, with the statements before it.
    fn ending(&mut self, middle: &mut Block, statements: Block) -> Block {
        let mut before: BTreeSet<RegisterId> = middle.iter().flat_map(|statement| self.writes(statement)).collect();
        let mut copies = Vec::new();
        let mut ending = Block::new();
        // Registers that the statements of the ending have written so far.
        let mut written = BTreeSet::new();
        for mut statement in statements {
            let is_kept = statement.expressions().all(|expr| {
                let mut kept = true;
                expr.visit(&mut |expr| kept &= !self.looks_at(expr, &written));
                kept
            });
            if !is_kept {
                before.append(&mut written);
                before.extend(self.writes(&statement));
                middle.append(&mut ending);
                middle.push(statement);
                copies.clear();
                continue;
            }
            written.extend(self.writes(&statement));
            match &mut statement {
                Statement::Store { address, value, .. } => {
                    self.place(address, &before, middle);
                    self.result(value, middle, &mut copies);
                }
                Statement::SetOperand(_, value) | Statement::Jump(value) => self.result(value, middle, &mut copies),
                _ => {}
            }
            ending.push(statement);
        }
        ending
    }

    /// Replaces an address in the ending by a local: the opening computes it, or else the middle.
    fn place(&mut self, address: &mut Expr, written: &BTreeSet<RegisterId>, middle: &mut Block) {
        let mut is_given = true;
        locals_of(address, &mut |local| is_given &= self.given.contains(&local));
        address.visit(&mut |expr| {
            is_given &= !matches!(
                expr.kind,
                ExprKind::Register(_) | ExprKind::Operand(_) | ExprKind::Code(_) | ExprKind::Pc | ExprKind::Next
            );
        });
        if is_given {
            return;
        }
        let local = self.new_local(address.width);
        if self.is_known_early(address, written) {
            self.open(local, address.clone());
        } else {
            middle.push(Statement::Let(local, address.clone()));
        }
        *address = Expr::local(address.width, local);
    }

    /// Replaces a value in the ending by one from the middle: a local or some bits of one.
    fn result(&mut self, value: &mut Expr, middle: &mut Block, copies: &mut Vec<(Expr, LocalId)>) {
        let mut of = &mut *value;
        while let ExprKind::Slice(..) | ExprKind::ZeroExtend(_) | ExprKind::SignExtend(_) = of.kind {
            of = of.parts_mut().remove(0);
        }
        match of.kind {
            ExprKind::Local(local) if !self.given.contains(&local) => return,
            _ => {}
        }
        let local = match copies.iter().find(|(known, _)| known == of) {
            Some((_, local)) => *local,
            None => {
                let local = self.new_local(of.width);
                middle.push(Statement::Let(local, of.clone()));
                copies.push((of.clone(), local));
                local
            }
        };
        *of = Expr::local(of.width, local);
    }
}
