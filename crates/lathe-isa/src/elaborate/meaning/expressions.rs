//! Values: names, numbers, slices, choices.

use lathe_base::{Diagnostic, Span, Width, nearest};

use super::{Binding, Lowerer, Site, Value, halves};
use crate::codes;
use crate::elaborate::constants::{self, does_not_fit, plural};
use crate::elaborate::declarations::slice_of;
use crate::language::ast::{Binary, Expr as Tree, ExprKind as TreeKind, Name, Type, Unary};
use crate::language::parser::is_type;
use crate::model::{Domain, Field, MemoryId, Values};
use crate::names::Named;
use crate::operand::fits;
use crate::operators::{BinaryOperator, UnaryOperator};
use crate::semantics::{Expr, ExprKind, OperandId, Statement};

impl<'w> Lowerer<'w, '_> {
    /// Lowers an expression to its value. If `want` is given, a value of any other width is reported.
    pub(super) fn value(&mut self, tree: &Tree, want: Option<Width>) -> Option<Value> {
        self.spend(tree.span)?;
        let value = match self.constant(tree) {
            Some(number) => self.number(tree, number, want)?,
            None => self.deeper(tree.span, |l| l.computed(tree, want))?,
        };
        if value.width().is_wide() {
            self.has_wide = true;
            self.count(halves::cost(tree));
        }
        self.declarations.names.note(tree.span, Some(value.width()), halves::number(&value.expr));
        self.fitted(value, want, tree)
    }

    /// Checks that a value fits something that takes at most 64 bits.
    pub(super) fn narrow(&mut self, value: Value, span: Span, what: &str) -> Option<Value> {
        if !value.width().is_wide() {
            return Some(value);
        }
        let message = format!("{what} has at most 64 bits, but this has {}", value.width().bits());
        self.fail(codes::BAD_WIDTH, span, message, "take the bits you mean, as in `(…)[63:0]`")
    }

    fn computed(&mut self, tree: &Tree, want: Option<Width>) -> Option<Value> {
        match &tree.kind {
            TreeKind::Number(_) | TreeKind::Broken => None,
            TreeKind::Name(name) => self.name(&Name { text: name.clone(), span: tree.span }),
            TreeKind::Call(name, arguments) => self.call_for_value(name, arguments, want, tree.span),
            TreeKind::Method(device, operation, arguments) => {
                self.device_call(device, operation, arguments)?.or_else(|| {
                    let message = format!("`{}.{}` does not return a value", device.text, operation.text);
                    self.fail(codes::NO_VALUE, tree.span, message, "call it as a statement of its own")
                })
            }
            TreeKind::Index(base, index) => match self.memory_named(base) {
                Some(memory) => self.load(memory, index),
                None => self.slice(base, index, index, tree.span),
            },
            TreeKind::Wide(name, _, bit) if self.has_modes(&name.text) => {
                let base = Tree { kind: TreeKind::Name(name.text.clone()), span: name.span };
                self.slice(&base, bit, bit, tree.span)
            }
            TreeKind::Wide(memory, ty, address) => self.load_wide(memory, ty, address),
            TreeKind::Sized(name, _) if self.has_modes(&name.text) => self.name(name),
            TreeKind::Sized(name, ty) => self.not_sized(name, ty),
            TreeKind::Word(name, word) => self.has_word(name, word),
            TreeKind::Slice(base, high, low) => self.slice(base, high, low, tree.span),
            TreeKind::Unary(operator, inner) => self.unary(*operator, inner, want),
            TreeKind::Binary(operator, left, right) => self.binary(*operator, left, right, want, tree.span),
            TreeKind::Choice(condition, first, second) => self.choice(condition, first, second, want),
        }
    }

    fn number(&mut self, tree: &Tree, number: i128, want: Option<Width>) -> Option<Value> {
        let comparison = matches!(&tree.kind, TreeKind::Binary(operator, ..) if is_comparison(*operator));
        // The width of a number that is only looked at does not matter.
        let own = if self.setting.site == Site::Prompt { Some(Width::MAX) } else { None };
        let Some(width) = want.or(comparison.then_some(Width::BIT)).or(own) else {
            let message = "the width of this number is not known here";
            let help = format!("write the width, as in `u8({number})`");
            return self.fail(codes::WIDTH_UNKNOWN, tree.span, message, help);
        };
        match fits(number, width) {
            true => Some(Value::unsigned(halves::constant(width, number))),
            false => self.report(does_not_fit(tree, number, width)),
        }
    }

    /// Reports a value whose width is not the wanted one.
    fn fitted(&mut self, value: Value, want: Option<Width>, tree: &Tree) -> Option<Value> {
        let span = tree.span;
        match want {
            Some(want) if want != value.width() => {
                let found = value.width();
                let message =
                    format!("expected {} {}, found {}", want.bits(), plural(want.bits(), "bit"), found.bits());
                let is_name = |x: &&str| x.chars().all(|c| c.is_alphanumeric() || c == '_');
                let name = self.written(span).filter(is_name).unwrap_or("(…)");
                let help = if want == Width::BIT {
                    format!("compare it, as in `{name} != 0`, or take one bit, as in `{name}[0]`")
                } else if found < want && is_arithmetic(tree) {
                    format!(
                        "extend each side, as in `{want}(x) + {want}(y)`; extending the result would lose the carry"
                    )
                } else if found < want {
                    let x = self.written(span).unwrap_or("…");
                    format!("extend it: `{want}({x})` with zeros, `s{}({x})` with its sign", want.bits())
                } else if found.is_wide() {
                    let (top, low) = (found.bits() - 1, found.bits().saturating_sub(want.bits()));
                    format!("take some of its bits, as in `{name}[{}:0]` or `{name}[{top}:{low}]`", want.bits() - 1)
                } else {
                    format!("take some of its bits, as in `{name}[{}:0]`", want.bits() - 1)
                };
                self.fail(codes::WIDTH_MISMATCH, span, message, help)
            }
            _ => Some(value),
        }
    }

    /// Returns the text at a place, if it is short enough to repeat.
    fn written(&self, span: Span) -> Option<&str> {
        if self.setting.site == Site::Prompt && !self.calls.is_empty() {
            // The function is in another text.
            return None;
        }
        self.declarations.text(span.file).get(span.range()).filter(|text| text.len() <= 16 && !text.contains('\n'))
    }

    /// Lowers an expression to a value of one bit.
    pub(super) fn truth(&mut self, tree: &Tree) -> Option<Expr> {
        self.value(tree, Some(Width::BIT)).map(|value| value.expr)
    }

    fn name(&mut self, name: &Name) -> Option<Value> {
        match self.binding(&name.text).cloned() {
            Some(Binding::Variable(local, width, signed)) => {
                return Some(Value { expr: Expr::local(width, local), signed });
            }
            Some(Binding::Value(value)) => return Some(value),
            Some(Binding::Place(place)) => return Some(Value::unsigned(self.read_place(&place))),
            Some(Binding::Target(target)) => return Some(Value::unsigned(self.read(&target))),
            Some(Binding::Operand(id)) => return self.field_value(id),
            Some(Binding::Broken) => return None,
            Some(Binding::Number(_)) | None => {}
        }
        if name.text == "next" {
            return self.next(name.span);
        }
        if name.text == "cycles" {
            let message = "how many cycles an instruction takes is not known here";
            return self.fail(codes::NOT_HERE, name.span, message, "`after each { … }` knows it, as a `u16`");
        }
        match self.declarations.names.find(&name.text, name.span) {
            Some(Named::Register(id)) => {
                let register = &self.declarations.registers[id.index()];
                Some(Value::unsigned(match register.constant {
                    true => Expr::constant(register.width, register.reset),
                    false => Expr { width: register.width, kind: ExprKind::Register(id) },
                }))
            }
            Some(Named::View(at)) => Some(Value::unsigned(self.read_place(&self.declarations.views[at].place.clone()))),
            Some(Named::Pc) => {
                self.control(name.span, "the program counter")?;
                Some(Value::unsigned(Expr { width: self.declarations.pc_width(), kind: ExprKind::Pc }))
            }
            Some(Named::Field(_) | Named::Operand(_)) => self.operand(name),
            found => self.not_a_value(name, found),
        }
    }

    fn next(&mut self, span: Span) -> Option<Value> {
        if !self.setting.site.has_next() {
            let message = "there is no next instruction here";
            let help = match self.setting.site {
                Site::Hook => "use `pc`, the address of the instruction that is due",
                _ => "`next` is the address after the instruction of a row; write an address instead",
            };
            return self.fail(codes::NOT_HERE, span, message, help);
        }
        let width = self.declarations.pc_width();
        let Some(cells) = self.ahead else { return Some(Value::unsigned(Expr { width, kind: ExprKind::Next })) };
        let (pc, cells) = (Expr { width, kind: ExprKind::Pc }, Expr::constant(width, u64::from(cells)));
        Some(Value::unsigned(Expr::binary(BinaryOperator::Add, pc, cells)))
    }

    /// Reports what only an instruction can do.
    pub(super) fn control(&mut self, span: Span, what: &str) -> Option<()> {
        if self.setting.site.has_pc() { Some(()) } else { self.not_here(span, what) }
    }

    /// Reports what has no meaning at this site.
    pub(super) fn not_here<T>(&mut self, span: Span, what: &str) -> Option<T> {
        let (place, help) = match self.setting.site {
            Site::Condition => ("the condition of `on step`", "compute the condition from registers"),
            _ => ("a mapped address", "a mapped address reads and writes devices and registers"),
        };
        self.fail(codes::NOT_HERE, span, format!("{what} has no meaning in {place}"), help)
    }

    /// Finds the operand of this row with this name.
    pub(super) fn operand_named(&self, name: &str) -> Option<OperandId> {
        if let Some(Binding::Operand(id)) = self.binding(name) {
            return Some(*id);
        }
        let fields = &self.declarations.fields;
        let at = self.setting.operands.iter().position(|id| fields[id.index()].name == name);
        at.filter(|_| self.calls.is_empty() && self.ahead.is_none()).map(|at| OperandId(at as u8))
    }

    /// Returns the field of an operand.
    pub(super) fn field(&self, id: OperandId) -> &'w Field {
        &self.declarations.fields[self.setting.operands[usize::from(id.0)].index()]
    }

    fn operand(&mut self, name: &Name) -> Option<Value> {
        let Some(id) = self.operand_named(&name.text) else {
            let (message, help) = if self.calls.is_empty() {
                let row = match (self.ahead, self.setting.site) {
                    (Some(_), _) => "of this mode",
                    (None, Site::Row) => "of this row",
                    _ => "here",
                };
                (
                    format!("`{}` is not an operand {row}", name.text),
                    "operands belong to a row; write them in its syntax and its encoding",
                )
            } else {
                (format!("a function does not see the operand `{}`", name.text), "give it as an argument")
            };
            return self.fail(codes::NOT_HERE, name.span, message, help);
        };
        self.field_value(id)
    }

    /// Lowers an operand that is a field to its value.
    fn field_value(&mut self, id: OperandId) -> Option<Value> {
        if let Some(reads) = self.counter(id).map(|counter| counter.reads) {
            return self.read_counter(reads);
        }
        let field = self.field(id);
        let width = field.value_width(self.declarations.pc_width());
        if let Domain::Values(values) = &field.domain {
            let (code, runs) = (Expr { width, kind: ExprKind::Operand(id) }, runs(values));
            let (expr, signed) = (listed(values.width, &code, &runs), values.signed);
            self.count(runs.len() * 4);
            return Some(Value { expr, signed });
        }
        let signed = matches!(&field.domain, Domain::Number(numeric) if numeric.signed && numeric.target.is_none());
        Some(Value { expr: Expr { width, kind: ExprKind::Operand(id) }, signed })
    }

    /// Lowers `F.cla`: whether a word is among those of an operand.
    fn has_word(&mut self, name: &Name, word: &Name) -> Option<Value> {
        if let Some(Named::Device(_)) = self.declarations.names.peek(&name.text) {
            let message = format!("`{}` is called with parentheses", word.text);
            let help = format!("write `{}.{}()`", name.text, word.text);
            return self.fail(codes::UNEXPECTED, word.span, message, help);
        }
        let operand = self.operand_named(&name.text).map(|id| (id, self.field(id)));
        let Some((id, field)) = operand.filter(|(_, field)| field.has_words()) else {
            let message = format!("`{}` is not an operand made of words", name.text);
            return self.fail(codes::WRONG_KIND, name.span, message, "as in `F.cla`, for a field `F : words { cla }`");
        };
        let Some(found) = field.words.iter().find(|known| known.name == word.text) else {
            let message = format!("`{}` has no word `{}`", name.text, word.text);
            let known = nearest(&word.text, field.words.iter().map(|known| known.name.as_str()));
            let help = match known {
                Some(known) => format!("did you mean `{known}`?"),
                None => "its words are in the list of its declaration".to_owned(),
            };
            return self.fail(codes::UNKNOWN_NAME, word.span, message, help);
        };
        let operand = self.field_value(id)?.expr;
        let constant = |bits| Expr::constant(field.width, bits);
        let bits = Expr::binary(BinaryOperator::And, operand, constant(found.mask));
        Some(Value::unsigned(Expr::binary(BinaryOperator::Equal, bits, constant(found.bits))))
    }

    fn not_a_value(&mut self, name: &Name, found: Option<Named>) -> Option<Value> {
        let Some(named) = found else { return self.unknown_value(name) };
        let (what, help) = match named {
            Named::Memory(_) => ("a memory", format!("say which cell: `{}[address]`", name.text)),
            Named::Function(_) | Named::Family(_) => ("a function", format!("call it: `{}(…)`", name.text)),
            Named::Operand(_) => (named.kind(), "give it to the function as an argument".to_owned()),
            _ => (named.kind(), "ask it for something, as in `console.read()`".to_owned()),
        };
        self.fail(codes::WRONG_KIND, name.span, format!("`{}` is {what}, not a value", name.text), help)
    }

    fn unknown_value(&mut self, name: &Name) -> Option<Value> {
        if self.declarations.names.is_broken(&name.text) {
            return None;
        }
        self.declarations.names.mark_broken(&name.text);
        let is_value = |named| !matches!(named, Named::Memory(_) | Named::Device(_) | Named::Function(_));
        let known = self.scope[self.frame..].iter().map(|(known, _)| known.as_str()).chain(["next"]);
        let near = lathe_base::nearest(&name.text, known.chain(self.setting.symbols.names()));
        let near = near.or_else(|| match self.diagnostics.is_full() {
            true => None,
            false => self.declarations.names.suggestion(&name.text, is_value),
        });
        let message = format!("there is nothing named `{}`", name.text);
        let diagnostic = Diagnostic::new(codes::UNKNOWN_NAME, name.span, message);
        let diagnostic = match (near, self.setting.site) {
            (Some(meant), _) => diagnostic.did_you_mean(name.span, meant),
            (None, Site::Prompt) => diagnostic.help("write a register, a memory cell, a label or a number"),
            (None, _) => diagnostic.help(format!("declare it, as in `register {0} : u8` or `let {0} = …`", name.text)),
        };
        self.report(diagnostic)
    }

    /// Finds the memory that an expression names, unless the name means something nearer.
    pub(super) fn memory_named(&self, tree: &Tree) -> Option<MemoryId> {
        let TreeKind::Name(name) = &tree.kind else { return None };
        if self.binding(name).is_some() {
            return None;
        }
        match self.declarations.names.peek(name) {
            Some(Named::Memory(id)) => {
                self.declarations.names.find(name, tree.span);
                Some(id)
            }
            _ => None,
        }
    }

    fn slice(&mut self, base: &Tree, high: &Tree, low: &Tree, span: Span) -> Option<Value> {
        let value = self.value(base, None)?;
        let (low, width) = self.bits_of(value.width(), high, low, span)?;
        Some(Value::unsigned(Expr::slice(value.expr, low, width)))
    }

    /// Returns the lowest bit and the width of `[high:low]`, which must be fixed numbers.
    pub(super) fn bits_of(&mut self, width: Width, high: &Tree, low: &Tree, span: Span) -> Option<(u32, Width)> {
        let mut bit = |tree: &Tree| {
            let number = self.constant(tree).and_then(|number| u64::try_from(number).ok());
            number.or_else(|| {
                let message = "the numbers of bits must be fixed";
                let help = "shift instead: `(x >> n)[0]` is the bit number n";
                self.fail(codes::NOT_CONSTANT, tree.span, message, help)
            })
        };
        let (high, low) = (bit(high)?, bit(low)?);
        slice_of(width, high, low, span, self.diagnostics)
    }

    fn unary(&mut self, operator: Unary, inner: &Tree, want: Option<Width>) -> Option<Value> {
        match operator {
            Unary::Not => Some(Value::unsigned(Expr::unary(UnaryOperator::Not, self.truth(inner)?))),
            Unary::Complement | Unary::Negate => {
                let want = self.hint(inner).or(want);
                let value = self.value(inner, want)?;
                let operator = if operator == Unary::Negate { UnaryOperator::Negate } else { UnaryOperator::Not };
                Some(Value { expr: Expr::unary(operator, value.expr), signed: value.signed })
            }
        }
    }

    fn choice(&mut self, condition: &Tree, first: &Tree, second: &Tree, want: Option<Width>) -> Option<Value> {
        let condition = self.truth(condition)?;
        let want = self.hint(first).or_else(|| self.hint(second)).or(want);
        let (first, then) = self.in_block(|l| l.value(first, want))?;
        let (second, otherwise) = self.in_block(|l| l.value(second, want.or(Some(first.width()))))?;
        let signed = first.signed && second.signed;
        Some(Value { expr: self.select(condition, (first.expr, then), (second.expr, otherwise)), signed })
    }

    /// Chooses one of two values, each with the statements it takes.
    pub(super) fn select(
        &mut self,
        condition: Expr,
        first: (Expr, crate::semantics::Block),
        second: (Expr, crate::semantics::Block),
    ) -> Expr {
        let ((first, mut then), (second, mut otherwise)) = (first, second);
        if then.is_empty() && otherwise.is_empty() {
            return Expr::choose(condition, first, second);
        }
        let width = first.width;
        let local = self.local(width);
        then.push(Statement::Let(local, first));
        otherwise.push(Statement::Let(local, second));
        self.branch(condition, then, otherwise);
        Expr::local(width, local)
    }

    /// Emits an `if`, or only the branch taken if that is known.
    pub(super) fn branch(
        &mut self,
        condition: Expr,
        then: crate::semantics::Block,
        otherwise: crate::semantics::Block,
    ) {
        match condition.as_constant() {
            Some(0) => otherwise.into_iter().for_each(|statement| self.emit(statement)),
            Some(_) => then.into_iter().for_each(|statement| self.emit(statement)),
            None if then.is_empty() && otherwise.is_empty() => {}
            None => self.emit(Statement::If { condition, then, otherwise }),
        }
    }

    /// Returns the width of a type inside this meaning.
    pub(super) fn width(&mut self, ty: &Type) -> Option<Width> {
        let scope = &self.scope[self.frame..];
        let number = |name: &str, _| match scope.iter().rev().find(|(known, _)| known == name) {
            Some((_, Binding::Number(value))) => Some(*value),
            _ => constants::letter(&self.declarations.names, name, ty.span),
        };
        constants::width_with(ty, Width::WIDEST, &number, self.diagnostics)
    }

    /// Returns the width that an expression has by itself, if any; numbers and `zext` have none.
    pub(super) fn hint(&self, tree: &Tree) -> Option<Width> {
        match &tree.kind {
            TreeKind::Number(_) | TreeKind::Broken => None,
            TreeKind::Name(name) => self.hint_name(name),
            TreeKind::Call(name, arguments) => self.hint_call(&name.text, arguments),
            TreeKind::Method(device, operation, _) => {
                let Some(Named::Device(id)) = self.declarations.names.peek(&device.text) else { return None };
                let operations = self.declarations.devices[id.index()].kind.operations();
                operations.into_iter().find(|known| known.operation.name() == operation.text)?.result
            }
            TreeKind::Index(base, _) => {
                Some(self.memory_named(base).map_or(Width::BIT, |id| self.declarations.memories[id.index()].cell))
            }
            TreeKind::Wide(name, ..) if self.has_modes(&name.text) => Some(Width::BIT),
            TreeKind::Wide(_, ty, _) | TreeKind::Sized(_, ty) => self.hint_type(ty),
            TreeKind::Slice(_, high, low) => {
                let bits = self.constant(high)?.checked_sub(self.constant(low)?)?;
                u64::try_from(bits).ok().and_then(|bits| Width::computed(bits.checked_add(1)?))
            }
            TreeKind::Unary(Unary::Not, _) | TreeKind::Word(..) => Some(Width::BIT),
            TreeKind::Unary(_, inner) => self.hint(inner),
            TreeKind::Binary(operator, ..) if is_comparison(*operator) => {
                if self.constant(tree).is_some() {
                    None
                } else {
                    Some(Width::BIT)
                }
            }
            TreeKind::Binary(Binary::Join, high, low) => self.hint(high)?.joined(self.hint(low)?),
            TreeKind::Binary(Binary::ShiftLeft | Binary::ShiftRight, left, _) => self.hint(left),
            TreeKind::Binary(_, left, right) => self.hint(left).or_else(|| self.hint(right)),
            TreeKind::Choice(_, first, second) => self.hint(first).or_else(|| self.hint(second)),
        }
    }

    fn hint_name(&self, name: &str) -> Option<Width> {
        match self.binding(name) {
            Some(Binding::Variable(_, width, _)) => return Some(*width),
            Some(Binding::Value(value)) => return Some(value.width()),
            Some(Binding::Place(place)) => return Some(place.width),
            Some(Binding::Target(target)) => return Some(target.width()),
            Some(Binding::Operand(id)) => return Some(self.field_width(*id)),
            Some(Binding::Number(_) | Binding::Broken) => return None,
            None => {}
        }
        match self.declarations.names.peek(name) {
            _ if name == "next" => Some(self.declarations.pc_width()),
            Some(Named::Register(id)) => Some(self.declarations.registers[id.index()].width),
            Some(Named::View(at)) => Some(self.declarations.views[at].place.width),
            Some(Named::Pc) => Some(self.declarations.pc_width()),
            Some(Named::Field(id)) => {
                Some(self.declarations.fields[id.index()].seen_width(self.declarations.pc_width()))
            }
            _ => None,
        }
    }

    fn hint_type(&self, ty: &Type) -> Option<Width> {
        u64::try_from(self.constant(&ty.width)?).ok().and_then(Width::computed)
    }

    fn hint_call(&self, name: &str, arguments: &[Tree]) -> Option<Width> {
        match (name, arguments) {
            ("signed" | "unsigned" | "rotl" | "rotr", [first, ..]) => return self.hint(first),
            ("zext" | "sext", [_, bits]) => return u64::try_from(self.constant(bits)?).ok().and_then(Width::computed),
            ("zext" | "sext", _) => return None,
            _ => {}
        }
        if is_type(name) {
            let bits = match self.binding(&name[1..]) {
                Some(Binding::Number(bits)) => u64::try_from(*bits).ok()?,
                _ => name[1..].parse().ok()?,
            };
            return Width::computed(bits);
        }
        match self.declarations.names.peek(name)? {
            Named::Function(at) => self.hint_function(at, arguments),
            Named::Family(at) => self.hint_type(self.declarations.families.get(at)?.tree.result.as_ref()?),
            _ => None,
        }
    }

    /// Returns the width of a function's result, if the arguments determine it.
    fn hint_function(&self, at: usize, arguments: &[Tree]) -> Option<Width> {
        let function = self.declarations.functions[at];
        let letters = self.letters(&function.parameters, arguments);
        let number = |name: &str, span| {
            let solved = letters.iter().find(|(known, _)| known == name).map(|(_, width)| *width);
            solved.or_else(|| constants::letter(&self.declarations.names, name, span))
        };
        let bits = constants::constant(&function.result.as_ref()?.width, &number)?;
        u64::try_from(bits).ok().and_then(Width::computed)
    }

    /// Whether a letter is a width of the whole definition, not of one function.
    pub(super) fn is_width(&self, letter: &str) -> bool {
        matches!(self.declarations.names.peek(letter), Some(Named::Width(_)))
    }

    /// Finds the widths of the letters of parameters, as far as the arguments determine them.
    pub(super) fn letters(&self, parameters: &[(Name, Type)], arguments: &[Tree]) -> Vec<(String, i128)> {
        let mut letters: Vec<(String, i128)> = Vec::new();
        for ((_, ty), argument) in parameters.iter().zip(arguments) {
            let TreeKind::Name(letter) = &ty.width.kind else { continue };
            let known = self.is_width(letter) || letters.iter().any(|(known, _)| known == letter);
            if let (false, Some(width)) = (known, self.hint(argument)) {
                letters.push((letter.clone(), i128::from(width.bits())));
            }
        }
        letters
    }

    /// Makes a diagnostic for two values that should have the same width.
    pub(super) fn different_widths(left: Width, right: Width, span: Span) -> Diagnostic {
        let (l, r) = (left.bits(), right.bits());
        let message = format!("{l} {} on the left, {r} on the right", plural(l, "bit"));
        let (narrow, wide) = if l < r { ("left", right) } else { ("right", left) };
        let help = format!("extend the {narrow} side, as in `{wide}(…)`, or take some bits of the other");
        Diagnostic::new(codes::WIDTH_MISMATCH, span, message).help(help)
    }
}

pub(super) fn is_comparison(operator: Binary) -> bool {
    use Binary::*;
    matches!(operator, Either | Both | Equal | Unequal | Less | LessOrEqual | Greater | GreaterOrEqual)
}

/// A range of codes whose values count up with them.
struct Run {
    code: u64,
    value: u64,
    codes: u64,
}

fn runs(values: &Values) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (code, value) in (0..).zip(&values.list).filter_map(|(code, value)| Some((code, (*value)?))) {
        match runs.last_mut().filter(|run| values.width.wrap(run.value.wrapping_add(code - run.code)) == value) {
            Some(run) => run.codes = code + 1 - run.code,
            None => runs.push(Run { code, value, codes: 1 }),
        }
    }
    runs
}

/// Builds the value for a code. Runs are split in half, so a long list does not nest deeply.
fn listed(width: Width, code: &Expr, runs: &[Run]) -> Expr {
    if let [run] = runs {
        if run.codes == 1 {
            return Expr::constant(width, run.value);
        }
        let code = match width < code.width {
            true => Expr::slice(code.clone(), 0, width),
            false => Expr::zero_extend(width, code.clone()),
        };
        let above = width.wrap(run.value.wrapping_sub(run.code));
        return match above {
            0 => code,
            _ => Expr::binary(BinaryOperator::Add, code, Expr::constant(width, above)),
        };
    }
    let (lower, upper) = runs.split_at(runs.len() / 2);
    let is_lower = Expr::binary(BinaryOperator::Less, code.clone(), Expr::constant(code.width, upper[0].code));
    Expr::choose(is_lower, listed(width, code, lower), listed(width, code, upper))
}

/// Whether a carry can come out of an expression.
fn is_arithmetic(tree: &Tree) -> bool {
    matches!(&tree.kind, TreeKind::Binary(Binary::Add | Binary::Subtract | Binary::Multiply | Binary::ShiftLeft, ..))
}
