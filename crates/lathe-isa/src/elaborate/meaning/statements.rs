//! Statements.

use lathe_base::{Diagnostic, Span, Width, limits};

use super::{Binding, Lowerer, Value};
use crate::codes;
use crate::elaborate::declarations::spread;
use crate::elaborate::lengths::Longer;
use crate::encoding::Cube;
use crate::language::ast::{
    Binary, Block, Expr as Tree, ExprKind as TreeKind, For, ForItem, Name, Statement as Written, Unary,
};
use crate::model::{Domain, MemoryId, Place, RegisterId};
use crate::names::Named;
use crate::operators::{BinaryOperator, UnaryOperator};
use crate::semantics::{Expr, ExprKind, OperandId, Statement};

impl Lowerer<'_, '_> {
    /// Lowers everything in a block; a value at its end must be a call.
    pub(super) fn block_for_effect(&mut self, block: &Block) -> Option<()> {
        let mut fine = Some(());
        for statement in &block.statements {
            fine = self.statement(statement).and(fine);
        }
        if let Some(value) = &block.value {
            fine = self.call_statement(value).and(fine);
        }
        fine
    }

    pub(super) fn statement(&mut self, statement: &Written) -> Option<()> {
        self.spend(place(statement))?;
        self.deeper(place(statement), |l| l.effect(statement))
    }

    fn effect(&mut self, statement: &Written) -> Option<()> {
        match statement {
            Written::Let(name, ty, value) => {
                let want = match ty.as_ref().map(|ty| self.width(ty)) {
                    Some(None) => {
                        self.scope.push((name.text.clone(), Binding::Broken));
                        return None;
                    }
                    want => want.flatten(),
                };
                let result = self.value(value, want);
                let Some(Value { expr, signed }) = result else {
                    self.scope.push((name.text.clone(), Binding::Broken));
                    return None;
                };
                let signed = ty.as_ref().map_or(signed, |ty| ty.signed);
                let (width, local) = (expr.width, self.local(expr.width));
                self.emit(Statement::Let(local, expr));
                self.scope.push((name.text.clone(), Binding::Variable(local, width, signed)));
                Some(())
            }
            Written::Assign(target, value) => self.assign(target, value),
            Written::If(condition, then, otherwise) => {
                let condition = self.truth(condition);
                let then = self.in_block(|l| l.block_for_effect(then));
                let nothing = Block::default();
                let otherwise = self.in_block(|l| l.block_for_effect(otherwise.as_ref().unwrap_or(&nothing)));
                self.branch(condition?, then?.1, otherwise?.1);
                Some(())
            }
            Written::For(repetition) => self.repeat(repetition),
            Written::Call(call) => self.call_statement(call),
            Written::Skip(span) => self.skip(*span),
            Written::Halt(span) => {
                if !self.setting.site.may_halt() {
                    return self.not_here(*span, "`halt`");
                }
                self.emit(Statement::Halt);
                Some(())
            }
            Written::Fault(span, message, detail) => {
                self.control(*span, "`fault`")?;
                let detail = match detail {
                    Some(detail) => {
                        let value = self.value(detail, self.hint(detail).or(Some(Width::MAX)))?;
                        Some(self.narrow(value, detail.span, "the number after `fault`")?.expr)
                    }
                    None => None,
                };
                self.emit(Statement::Fault { message: message.clone(), detail });
                Some(())
            }
            Written::Cycles(count) => {
                self.control(count.span, "`cycles`")?;
                let value = self.value(count, self.hint(count).or(Some(Width::MAX)))?;
                let value = self.narrow(value, count.span, "a number of cycles")?;
                self.emit(Statement::Cycles(Expr::zero_extend(Width::MAX, value.expr)));
                Some(())
            }
        }
    }

    fn call_statement(&mut self, tree: &Tree) -> Option<()> {
        self.spend(tree.span)?;
        match &tree.kind {
            TreeKind::Call(name, arguments) => self.call(name, arguments, None, tree.span).map(|_| ()),
            TreeKind::Method(device, operation, arguments) => {
                self.device_call(device, operation, arguments).map(|_| ())
            }
            TreeKind::Broken => None,
            TreeKind::Binary(Binary::Equal, left, right) => {
                let message = "this compares, and nothing uses the answer";
                let diagnostic = Diagnostic::new(codes::NO_VALUE, tree.span, message).help("to assign, write `=`");
                let between = Span { start: left.span.end, end: right.span.start, ..tree.span };
                let is_plain =
                    self.declarations.text(between.file).get(between.range()).is_some_and(|text| text.trim() == "==");
                self.report(if is_plain { diagnostic.fix(between, " = ") } else { diagnostic })
            }
            TreeKind::Name(name) if name == "return" && self.is_unknown(tree) => {
                let help = "remove it: a meaning ends after its last statement";
                self.fail(codes::UNKNOWN_NAME, tree.span, "there is no `return` in a meaning", help)
            }
            TreeKind::Name(name) if self.is_unknown(tree) => {
                let message = format!("there is nothing named `{name}`");
                let diagnostic = Diagnostic::new(codes::UNKNOWN_NAME, tree.span, message);
                self.report(match lathe_base::nearest(name, ["halt", "skip", "fault"]) {
                    Some(meant) => diagnostic.did_you_mean(tree.span, meant),
                    None => diagnostic.help("a meaning assigns, calls a function, or says `halt`"),
                })
            }
            _ if looks_like_an_arrow(tree) => {
                self.fail(codes::NO_VALUE, tree.span, "there is no `<-`", "to assign, write `=`")
            }
            _ => {
                let help = if self.calls.is_empty() {
                    "assign it, as in `a = …`, or remove it"
                } else {
                    "assign it, remove it, or give the function a result, as in `fn f() -> u8 { … }`"
                };
                self.fail(codes::NO_VALUE, tree.span, "nothing uses this value", help)
            }
        }
    }

    fn skip(&mut self, span: Span) -> Option<()> {
        self.control(span, "`skip`")?;
        let Some(lengths) = self.setting.lengths else {
            let message = "there is nothing to skip here";
            return self.fail(codes::NOT_HERE, span, message, "assign the program counter, as in `pc = pc + 1`");
        };
        self.emit(Statement::Jump(self.beyond_next(lengths.shortest())));
        let longer = lengths.longer();
        let modes = self.declarations.mode_mask();
        let bits = |longer: &Longer| 128 - (longer.fixed.mask & !modes).trailing_zeros();
        let cells = longer.iter().map(bits).max().unwrap_or(0).div_ceil(self.declarations.code_cell().bits());
        let Some(memory) = self.declarations.pc.as_ref().map(|pc| pc.memory) else { return Some(()) };
        let width = self.declarations.code_cell();
        let cells: Vec<Expr> = (0..cells).map(|cell| self.load_cells(memory, self.beyond_next(cell), width)).collect();
        for longer in longer {
            self.spend(span)?;
            let begins = |cube: &Cube| {
                let in_cells = Cube { mask: cube.mask & !modes, value: cube.value & !modes };
                let in_modes = self.in_modes(cube);
                in_modes.fold(begins_with(&cells, in_cells), |all, one| Expr::binary(BinaryOperator::And, all, one))
            };
            let excluded = longer.excluded.iter().map(begins);
            let condition = excluded.fold(begins(&longer.fixed), |all, excluded| {
                Expr::binary(BinaryOperator::And, all, Expr::unary(UnaryOperator::Not, excluded))
            });
            let then = vec![Statement::Jump(self.beyond_next(longer.cells))];
            self.emit(Statement::If { condition, then, otherwise: Vec::new() });
        }
        Some(())
    }

    /// Makes a condition for each mode that a condition on encodings constrains.
    fn in_modes(&self, cube: &Cube) -> impl Iterator<Item = Expr> {
        let registers = (0..).map(RegisterId).zip(self.declarations.registers.iter());
        let modes = registers.filter_map(|(id, register)| Some((id, register.width, register.mode?)));
        let said = modes.filter(|(_, width, shift)| cube.mask >> shift & u128::from(width.mask()) != 0);
        said.map(|(id, width, shift)| {
            let value = Expr::constant(width, (cube.value >> shift) as u64);
            Expr::binary(BinaryOperator::Equal, Expr { width, kind: ExprKind::Register(id) }, value)
        })
    }

    /// Returns the address this many cells after the next instruction.
    fn beyond_next(&self, cells: u32) -> Expr {
        let width = self.declarations.pc_width();
        Expr { width, kind: ExprKind::Next }.plus(u64::from(cells))
    }

    fn repeat(&mut self, repetition: &For) -> Option<()> {
        let mut items = Vec::new();
        for item in &repetition.items {
            match item {
                ForItem::Value(tree) => items.push(tree.clone()),
                ForItem::Range(range) => items.extend(
                    spread(range, self.diagnostics)
                        .into_iter()
                        .map(|name| Tree { kind: TreeKind::Name(name.text), span: name.span }),
                ),
            }
            if items.len() > limits::LIST {
                let message = format!("a list has at most {} items", limits::LIST);
                return self.fail(codes::TOO_MANY, repetition.span, message, "make it shorter");
            }
        }
        for (position, item) in items.iter().enumerate() {
            self.spend(repetition.span)?;
            let names = self.scope.len();
            if let Some(index) = &repetition.index {
                self.scope.push((index.text.clone(), Binding::Number(position as i128)));
            }
            let binding = self.item(item)?;
            self.scope.push((repetition.name.text.clone(), binding));
            let done = self.block_for_effect(&repetition.body);
            self.scope.truncate(names);
            done?;
        }
        Some(())
    }

    /// Lowers an item of a list: a register stays a register, so that it can be assigned.
    fn item(&mut self, tree: &Tree) -> Option<Binding> {
        if let TreeKind::Name(name) = &tree.kind
            && self.binding(name).is_none()
            && let Some(Named::Register(_) | Named::View(_)) = self.declarations.names.peek(name)
        {
            let name = Name { text: name.clone(), span: tree.span };
            return self.declarations.place_of(&name, self.diagnostics).map(Binding::Place);
        }
        if let Some(number) = self.constant(tree) {
            return Some(Binding::Number(number));
        }
        let Value { expr, signed } = self.value(tree, None)?;
        let (width, local) = (expr.width, self.local(expr.width));
        self.emit(Statement::Let(local, expr));
        Some(Binding::Value(Value { expr: Expr::local(width, local), signed }))
    }

    fn assign(&mut self, target: &Tree, value: &Tree) -> Option<()> {
        match &target.kind {
            TreeKind::Index(base, address) if self.memory_named(base).is_some() => {
                let memory = self.memory_named(base)?;
                let cell = self.declarations.memories[memory.index()].cell;
                self.declarations.names.note(target.span, Some(cell), None);
                self.store(memory, cell, address, value)
            }
            TreeKind::Wide(memory, ty, address) if !self.has_modes(&memory.text) => {
                let (memory, width) = self.wide(memory, ty)?;
                self.declarations.names.note(target.span, Some(width), None);
                self.store(memory, width, address, value)
            }
            _ => {
                let place = self.target(target)?;
                self.declarations.names.note(target.span, Some(place.width()), None);
                let value = self.value(value, Some(place.width()))?;
                self.write(&place, value);
                Some(())
            }
        }
    }

    /// Finds what an assignment writes, except memory.
    fn target(&mut self, tree: &Tree) -> Option<Assignable> {
        match &tree.kind {
            TreeKind::Index(base, _) if self.memory_named(base).is_some() => {
                let help = "read the cell into a local, change it there, and write it back";
                self.not_assignable(tree.span, "a part of a memory cell, or a cell among others,", help)
            }
            TreeKind::Index(base, _) if self.is_unknown(base) => {
                let TreeKind::Name(name) = &base.kind else { return None };
                let name = Name { text: name.clone(), span: base.span };
                let fits = |named| matches!(named, Named::Memory(_) | Named::Register(_) | Named::View(_));
                let declare = match &self.declarations.memories[..] {
                    [only] => format!("the memory of this machine is `{}`", only.name),
                    _ => format!("declare it, as in `memory {} : u16 -> u8`", name.text),
                };
                self.declarations.names.report_wrong(&name, "memory or register", fits, declare, self.diagnostics);
                None
            }
            TreeKind::Name(name) => self.target_named(&Name { text: name.clone(), span: tree.span }),
            TreeKind::Sized(name, _) => self.target_named(name),
            TreeKind::Wide(name, _, bit) if self.has_modes(&name.text) => {
                let base = Tree { kind: TreeKind::Name(name.text.clone()), span: name.span };
                self.target_slice(&base, bit, bit, tree.span)
            }
            TreeKind::Slice(base, high, low) => self.target_slice(base, high, low, tree.span),
            TreeKind::Index(base, bit) => self.target_slice(base, bit, bit, tree.span),
            TreeKind::Binary(Binary::Join, high, low) => {
                let (high, low) = (self.target(high)?, self.target(low)?);
                match high.width().joined(low.width()) {
                    Some(width) => {
                        self.has_wide |= width.is_wide();
                        Some(Assignable::Join(Box::new(high), Box::new(low), width))
                    }
                    None => {
                        self.fail(codes::BAD_WIDTH, tree.span, "these are more than 128 bits", "assign them one by one")
                    }
                }
            }
            TreeKind::Broken => None,
            _ => {
                let help = "registers, views, memory cells, their bits, and `pc` can be assigned";
                self.not_assignable(tree.span, "this", help)
            }
        }
    }

    /// Whether an expression is an undeclared name.
    fn is_unknown(&self, tree: &Tree) -> bool {
        let TreeKind::Name(name) = &tree.kind else { return false };
        self.binding(name).is_none() && self.declarations.names.peek(name).is_none()
    }

    pub(super) fn target_named(&mut self, name: &Name) -> Option<Assignable> {
        match self.binding(&name.text).cloned() {
            Some(Binding::Variable(local, width, _)) => return Some(Assignable::Local(local, width)),
            Some(Binding::Place(place)) => return Some(Assignable::Place(place)),
            Some(Binding::Target(target)) => return Some(target),
            Some(Binding::Operand(id)) => return self.target_field(name, id),
            Some(Binding::Broken) => return None,
            Some(Binding::Value(_) | Binding::Number(_)) => {
                let help = "copy it first: `let x = …`";
                return self.not_assignable(name.span, &format!("`{}`", name.text), help);
            }
            None => {}
        }
        if name.text == "next" {
            let pc = self.declarations.pc.as_ref().map_or("pc", |pc| pc.name.as_str());
            let diagnostic = Diagnostic::new(codes::NOT_ASSIGNABLE, name.span, "`next` cannot be assigned");
            let help = format!("to jump, assign the program counter: `{pc} = …`");
            let diagnostic = diagnostic.help(help).fix(name.span, pc);
            return self.report(diagnostic);
        }
        match self.declarations.names.find(&name.text, name.span) {
            Some(Named::Register(id)) => {
                let register = &self.declarations.registers[id.index()];
                if register.constant {
                    let what = format!("the constant `{}`", name.text);
                    return self.not_assignable(name.span, &what, "declare it as `register` if it changes");
                }
                Some(Assignable::Place(Place::whole(id, register.width)))
            }
            Some(Named::View(at)) => Some(Assignable::Place(self.declarations.views[at].place.clone())),
            Some(Named::Pc) => {
                self.control(name.span, "a jump")?;
                Some(Assignable::Pc(Expr { width: self.declarations.pc_width(), kind: ExprKind::Pc }))
            }
            Some(Named::Field(_) | Named::Operand(_)) => self.target_operand(name),
            Some(named) => {
                let what = format!("`{}` is {} and", name.text, named.kind());
                let help = match named {
                    Named::Memory(_) => format!("a cell is written `{}[…] = …`", name.text),
                    Named::Device(_) => format!("to write to it: `{}.write(…)`", name.text),
                    _ => "registers, views, memory cells and `pc` can be assigned".to_owned(),
                };
                self.not_assignable(name.span, &what, &help)
            }
            None => {
                let is_place = |named| matches!(named, Named::Register(_) | Named::View(_) | Named::Field(_));
                let declare = format!("declare it with `register {0} : u8`, or write `let {0} = …`", name.text);
                self.declarations.names.report_wrong(name, "register", is_place, declare, self.diagnostics);
                None
            }
        }
    }

    fn target_operand(&mut self, name: &Name) -> Option<Assignable> {
        let Some(id) = self.operand_named(&name.text) else {
            let message = format!("`{}` is not an operand here", name.text);
            let help = "write it in the syntax and the encoding of this row; functions do not see operands";
            return self.fail(codes::NOT_HERE, name.span, message, help);
        };
        self.target_field(name, id)
    }

    fn target_field(&mut self, name: &Name, id: OperandId) -> Option<Assignable> {
        if let Some(reads) = self.counter(id).map(|counter| counter.reads) {
            return self.read_counter(reads).map(|value| Assignable::Pc(value.expr));
        }
        match &self.field(id).domain {
            Domain::Registers(list) => {
                let width = list.iter().flatten().next().map_or(Width::BIT, |(_, place)| place.width);
                Some(Assignable::Operand(id, width))
            }
            _ => self.not_assignable(name.span, &format!("the number `{}`", name.text), "only registers change"),
        }
    }

    pub(super) fn target_slice(&mut self, base: &Tree, high: &Tree, low: &Tree, span: Span) -> Option<Assignable> {
        let whole = self.target(base)?;
        let (low, width) = self.bits_of(whole.width(), high, low, span)?;
        Some(Assignable::Slice(Box::new(whole), low, width))
    }

    fn write(&mut self, target: &Assignable, value: Value) {
        match target {
            Assignable::Local(local, _) => self.emit(Statement::Let(*local, value.expr)),
            Assignable::Place(place) => self.write_place(place, value),
            Assignable::Operand(id, _) => self.emit(Statement::SetOperand(*id, value.expr)),
            Assignable::Pc(_) => self.emit(Statement::Jump(value.expr)),
            Assignable::Cells { memory, address, .. } => self.store_cells(*memory, address.clone(), value.expr),
            Assignable::Slice(whole, low, _) => {
                let old = self.read(whole);
                self.write(whole, Value::unsigned(Expr::replace(old, *low, value.expr)));
            }
            Assignable::Join(high, low, _) => {
                let value = self.keep(value);
                let bits = low.width().bits();
                let upper = Expr::slice(value.expr.clone(), bits, high.width());
                self.write(high, Value::unsigned(upper));
                let lower = Expr::slice(value.expr, 0, low.width());
                self.write(low, Value::unsigned(lower));
            }
        }
    }

    pub(super) fn read(&mut self, target: &Assignable) -> Expr {
        match target {
            Assignable::Local(local, width) => Expr::local(*width, *local),
            Assignable::Place(place) => self.read_place(place),
            Assignable::Operand(id, width) => Expr { width: *width, kind: ExprKind::Operand(*id) },
            Assignable::Pc(reads) => reads.clone(),
            Assignable::Cells { memory, address, width } => self.load_cells(*memory, address.clone(), *width),
            Assignable::Slice(whole, low, width) => Expr::slice(self.read(whole), *low, *width),
            Assignable::Join(high, low, _) => {
                let high = self.read(high);
                Expr::join(high, self.read(low))
            }
        }
    }
}

/// Returns the place of a statement.
fn place(statement: &Written) -> Span {
    match statement {
        Written::Let(name, ..) => name.span,
        Written::Assign(target, _) => target.span,
        Written::If(condition, ..) => condition.span,
        Written::For(repetition) => repetition.span,
        Written::Call(call) | Written::Cycles(call) => call.span,
        Written::Skip(span) | Written::Halt(span) | Written::Fault(span, ..) => *span,
    }
}

/// The target of an assignment.
#[derive(Clone, Debug)]
pub(super) enum Assignable {
    Local(crate::semantics::LocalId, Width),
    Place(Place),
    Operand(OperandId, Width),
    /// The program counter, and the value of a read.
    Pc(Expr),
    /// Memory cells at an address that can no longer change.
    Cells {
        memory: MemoryId,
        address: Expr,
        width: Width,
    },
    Slice(Box<Assignable>, u32, Width),
    Join(Box<Assignable>, Box<Assignable>, Width),
}

impl Assignable {
    pub(super) fn width(&self) -> Width {
        match self {
            Assignable::Local(_, width)
            | Assignable::Operand(_, width)
            | Assignable::Cells { width, .. }
            | Assignable::Slice(_, _, width)
            | Assignable::Join(_, _, width) => *width,
            Assignable::Place(place) => place.width,
            Assignable::Pc(reads) => reads.width,
        }
    }
}

/// Whether an expression is `a <- b`, which reads as `a < -b`.
fn looks_like_an_arrow(tree: &Tree) -> bool {
    let TreeKind::Binary(Binary::Less, left, right) = &tree.kind else { return false };
    matches!(right.kind, TreeKind::Unary(Unary::Negate, _)) && right.span.start.saturating_sub(left.span.end) <= 2
}

/// Makes a test whether cells begin with these bits.
fn begins_with(cells: &[Expr], cube: Cube) -> Expr {
    let parts = cells.iter().zip(1..).map(|(cell, number)| {
        let part = |bits: u128| Expr::constant(cell.width, (bits >> (128 - number * cell.width.bits())) as u64);
        let seen = Expr::binary(BinaryOperator::And, cell.clone(), part(cube.mask));
        Expr::binary(BinaryOperator::Equal, seen, part(cube.value))
    });
    parts.reduce(|all, part| Expr::binary(BinaryOperator::And, all, part)).unwrap_or(Expr::constant(Width::BIT, 1))
}
