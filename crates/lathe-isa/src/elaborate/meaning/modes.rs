//! Operands with modes in meanings: worked out once, before the row's meaning, which can use the result any number of
//! times.

use lathe_base::{Diagnostic, Span, Width};

use super::statements::Assignable;
use super::{Binding, Lowerer, Value};
use crate::codes;
use crate::elaborate::modes::{ChosenMode, Counter};
use crate::language::ast::{Binary, Block, Expr as Tree, ExprKind as TreeKind, For, ForItem, Name, Statement, Type};
use crate::model::Domain;
use crate::names::Named;
use crate::semantics::{Expr, ExprKind, OperandId};

impl<'w> Lowerer<'w, '_> {
    /// Whether a name is declared as an operand with modes.
    pub(super) fn has_modes(&self, name: &str) -> bool {
        matches!(self.declarations.names.peek(name), Some(Named::Operand(_)))
    }

    /// Lowers the mode of an operand and binds the operand's name to what the mode reaches. An operand that the row
    /// only reads is read here, so that the next operand cannot change it.
    pub(super) fn work_out(&mut self, operand: &ChosenMode, row: &Block, place: Span) -> Option<()> {
        let name = self.declarations.operands[operand.operand].name;
        let mut uses = Uses { name: &name.text, place, reads: false, writes: false, widths: Vec::new(), bare: None };
        uses.block(row);
        let width = self.width_said(operand, &uses)?;
        let names = self.scope.len();
        let outer = std::mem::replace(&mut self.frame, names);
        for (field, id) in &operand.fields {
            let at = self.setting.operands.iter().position(|own| own == id)?;
            self.scope.push((field.clone(), Binding::Operand(OperandId(at as u8))));
        }
        if let (Some(letter), Some(width)) = (operand.mode.letter, width) {
            self.scope.push((letter.to_owned(), Binding::Number(i128::from(width.bits()))));
        }
        self.ahead = Some(operand.end);
        let binding = self.reached(operand, &uses);
        self.ahead = None;
        self.scope.truncate(names);
        self.frame = outer;
        let binding = binding?;
        if let (Some(said), Some(found)) = (uses.widths.first(), binding.width()) {
            let width = self.width(said)?;
            if width != found {
                let mode = &operand.mode.tree.syntax.text;
                let message = format!(
                    "`{}` has {} bits here, but the mode `{mode}` has {}",
                    name.text,
                    width.bits(),
                    found.bits()
                );
                let help = "declare the operand `of uK`, and end the mode with something of `K` bits";
                return self.fail(codes::WIDTH_MISMATCH, said.span, message, help);
            }
        }
        self.scope.push((name.text.clone(), binding));
        Some(())
    }

    /// Finds the width that the row gives an operand, if its declaration has a letter for the width.
    fn width_said(&mut self, operand: &ChosenMode, uses: &Uses) -> Option<Option<Width>> {
        let name = uses.name;
        let mut said: Option<Width> = None;
        for ty in &uses.widths {
            let width = self.width(ty)?;
            if said.is_some_and(|said| said != width) {
                let message = format!("`{name}` has two widths in this row");
                let help = "an operand is worked out once, so it has one width: take bits of the wider one";
                return self.fail(codes::WIDTH_MISMATCH, ty.span, message, help);
            }
            said = Some(width);
        }
        if operand.mode.letter.is_none() || (said.is_some() && uses.bare.is_none()) {
            return Some(said);
        }
        let span = uses.bare.unwrap_or(uses.place);
        let message = format!("nothing says how wide `{name}` is here");
        let help = format!("write its width, as in `{name}.u16`");
        self.fail(codes::WIDTH_UNKNOWN, span, message, help)
    }

    /// Lowers the end of a mode's meaning: a place, or a value.
    fn reached(&mut self, operand: &ChosenMode, uses: &Uses) -> Option<Binding> {
        let mode = operand.mode.tree;
        for statement in &operand.meaning.statements {
            self.statement(statement)?;
        }
        let value = operand.meaning.value.as_ref()?;
        let Some(target) = self.reachable(value)? else {
            let value = self.value(value, None)?;
            if uses.writes {
                let message = format!("`{}` cannot be assigned in its mode `{}`", uses.name, mode.syntax.text);
                let help = "use an operand without this mode, or let the mode end with a register or a cell";
                let diagnostic = Diagnostic::new(codes::NOT_ASSIGNABLE, mode.span, message);
                return self.report(diagnostic.also(uses.place, "assigned by this row").help(help));
            }
            return Some(Binding::Value(self.keep(value)));
        };
        if uses.writes || !uses.reads {
            return Some(Binding::Target(target));
        }
        let value = Value::unsigned(self.read(&target));
        Some(Binding::Value(self.keep(value)))
    }

    /// Returns the place that an expression denotes, if any.
    fn reachable(&mut self, tree: &Tree) -> Option<Option<Assignable>> {
        match &tree.kind {
            TreeKind::Index(base, address) if self.memory_named(base).is_some() => {
                let memory = self.memory_named(base)?;
                let width = self.declarations.memories[memory.index()].cell;
                let address = Value::unsigned(self.address(memory, address)?);
                Some(Some(Assignable::Cells { memory, address: self.keep(address).expr, width }))
            }
            TreeKind::Wide(memory, ty, address) => {
                let (memory, width) = self.wide(memory, ty)?;
                let address = Value::unsigned(self.address(memory, address)?);
                Some(Some(Assignable::Cells { memory, address: self.keep(address).expr, width }))
            }
            TreeKind::Name(name) if self.is_register(name) => {
                self.target_named(&Name { text: name.clone(), span: tree.span }).map(Some)
            }
            TreeKind::Slice(base, high, low) if self.is_register_tree(base) => {
                self.target_slice(base, high, low, tree.span).map(Some)
            }
            TreeKind::Index(base, bit) if self.is_register_tree(base) => {
                self.target_slice(base, bit, bit, tree.span).map(Some)
            }
            _ => Some(None),
        }
    }

    fn is_register_tree(&self, tree: &Tree) -> bool {
        matches!(&tree.kind, TreeKind::Name(name) if self.is_register(name))
    }

    /// Whether a name is that of a register that can be assigned.
    fn is_register(&self, name: &str) -> bool {
        match self.binding(name) {
            Some(Binding::Operand(id)) => {
                self.counter(*id).is_some() || matches!(self.field(*id).domain, Domain::Registers(_))
            }
            Some(_) => false,
            None => match self.declarations.names.peek(name) {
                Some(Named::Register(id)) => !self.declarations.registers[id.index()].constant,
                Some(Named::View(_) | Named::Pc) => true,
                _ => false,
            },
        }
    }

    /// Lowers `address(E)`: where the cells are that an operand reaches.
    pub(super) fn address_of(&mut self, tree: &Tree) -> Option<Value> {
        let (TreeKind::Name(name) | TreeKind::Sized(Name { text: name, .. }, _)) = &tree.kind else {
            let message = "this is not an operand with modes";
            return self.fail(codes::NOT_HERE, tree.span, message, "as in `address(E)`, where `E` is in the syntax");
        };
        match self.binding(name) {
            Some(Binding::Target(Assignable::Cells { address, .. })) => Some(Value::unsigned(address.clone())),
            Some(Binding::Broken) => None,
            Some(_) if self.has_modes(name) => {
                let message = format!("`{name}` has a mode that is not in memory, so it has no address");
                let help = "use an operand that has only the modes in memory";
                self.fail(codes::NOT_HERE, tree.span, message, help)
            }
            _ => {
                let message = format!("`{name}` is not an operand with modes of this row");
                self.fail(codes::NOT_HERE, tree.span, message, "as in `address(E)`, where `E` is in the syntax")
            }
        }
    }

    /// Reports a width given for something that has its own.
    pub(super) fn not_sized(&mut self, name: &Name, ty: &Type) -> Option<Value> {
        let span = name.span.to(ty.span);
        let (message, help) = match self.declarations.names.peek(&name.text) {
            Some(Named::Memory(_)) => {
                (format!("`{}` is a memory, not a value", name.text), "say which cell: `ram.u16[address]`")
            }
            _ => (format!("`{}` has no modes, so it has its own width", name.text), "leave the width out"),
        };
        self.fail(codes::WRONG_KIND, span, message, help)
    }

    /// Returns the counter if an operand is the program counter.
    pub(super) fn counter(&self, id: OperandId) -> Option<&Counter<'w>> {
        let field = self.setting.operands.get(usize::from(id.0))?;
        self.setting.counters.iter().find(|(own, _)| own == field).map(|(_, counter)| counter)
    }

    /// Lowers a read of the program counter.
    pub(super) fn read_counter(&mut self, reads: Option<&Tree>) -> Option<Value> {
        let width = self.declarations.pc_width();
        let Some(tree) = reads else { return Some(Value::unsigned(Expr { width, kind: ExprKind::Pc })) };
        let outer = std::mem::replace(&mut self.frame, self.scope.len());
        let value = self.value(tree, Some(width));
        self.frame = outer;
        value
    }

    /// Returns the width of an operand that is a field.
    pub(super) fn field_width(&self, id: OperandId) -> Width {
        let pc = self.declarations.pc_width();
        if self.counter(id).is_some() { pc } else { self.field(id).seen_width(pc) }
    }
}

impl Binding {
    /// Returns the width of a value or place.
    fn width(&self) -> Option<Width> {
        match self {
            Binding::Value(value) => Some(value.width()),
            Binding::Target(target) => Some(target.width()),
            _ => None,
        }
    }
}

/// How a row uses an operand with modes.
struct Uses<'t> {
    name: &'t str,
    /// The row's syntax.
    place: Span,
    reads: bool,
    writes: bool,
    /// The widths given for it.
    widths: Vec<&'t Type>,
    /// Where it is used without a width.
    bare: Option<Span>,
}

impl<'t> Uses<'t> {
    fn block(&mut self, block: &'t Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
        block.value.iter().for_each(|value| self.expr(value));
    }

    fn statement(&mut self, statement: &'t Statement) {
        match statement {
            Statement::Let(_, _, value) | Statement::Call(value) | Statement::Cycles(value) => self.expr(value),
            Statement::Assign(target, value) => {
                self.target(target);
                self.expr(value);
            }
            Statement::If(condition, then, otherwise) => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            Statement::For(For { items, body, .. }) => {
                for item in items {
                    if let ForItem::Value(value) = item {
                        self.expr(value);
                    }
                }
                self.block(body);
            }
            Statement::Fault(_, _, detail) => detail.iter().for_each(|value| self.expr(value)),
            Statement::Skip(_) | Statement::Halt(_) => {}
        }
    }

    /// Notes the left side of `=`.
    fn target(&mut self, tree: &'t Tree) {
        match &tree.kind {
            TreeKind::Binary(Binary::Join, high, low) => {
                self.target(high);
                self.target(low);
            }
            TreeKind::Slice(base, ..) | TreeKind::Index(base, _) if self.is_own(base) => self.target(base),
            _ if self.is_own(tree) => self.writes = true,
            _ => self.expr(tree),
        }
    }

    fn expr(&mut self, tree: &'t Tree) {
        match &tree.kind {
            _ if self.is_own(tree) => self.reads = true,
            TreeKind::Call(name, arguments) => {
                for argument in arguments {
                    let only_where = name.text == "address" && self.is_own(argument);
                    if !only_where {
                        self.expr(argument);
                    }
                }
            }
            TreeKind::Method(_, _, arguments) => arguments.iter().for_each(|argument| self.expr(argument)),
            TreeKind::Wide(_, _, inner) | TreeKind::Unary(_, inner) => self.expr(inner),
            TreeKind::Index(left, right) | TreeKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            TreeKind::Slice(first, second, third) | TreeKind::Choice(first, second, third) => {
                [first, second, third].into_iter().for_each(|part| self.expr(part));
            }
            TreeKind::Name(_) | TreeKind::Sized(..) | TreeKind::Word(..) | TreeKind::Number(_) | TreeKind::Broken => {}
        }
    }

    /// Whether an expression is the operand itself or a part of it; notes its width.
    fn is_own(&mut self, tree: &'t Tree) -> bool {
        match &tree.kind {
            TreeKind::Name(name) if name == self.name => {
                self.bare = self.bare.or(Some(tree.span));
                true
            }
            TreeKind::Sized(name, ty) | TreeKind::Wide(name, ty, _) if name.text == self.name => {
                self.widths.push(ty);
                true
            }
            _ => false,
        }
    }
}
