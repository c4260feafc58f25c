//! Calls: conversions, built-in functions, functions and families of the definition, devices.

use lathe_base::{Diagnostic, Span, Width, limits, nearest};

use super::operators::CountWidth;
use super::{Binding, Lowerer, Site, Value};
use crate::codes;
use crate::language::ast::{Block, Expr as Tree, ExprKind, Name, Type};
use crate::language::parser::is_type;
use crate::model::Domain;
use crate::names::Named;
use crate::operators::BinaryOperator;
use crate::semantics::{Expr, ExprKind as SemanticKind, OperandId, Statement};

const BUILT_IN: [&str; 8] = ["signed", "unsigned", "zext", "sext", "rotl", "rotr", "code", "address"];

impl Lowerer<'_, '_> {
    pub(super) fn call_for_value(
        &mut self,
        name: &Name,
        arguments: &[Tree],
        want: Option<Width>,
        span: Span,
    ) -> Option<Value> {
        self.call(name, arguments, want, span)?.or_else(|| {
            let message = format!("`{}` does not return a value", name.text);
            self.fail(codes::NO_VALUE, span, message, "give it a result type and a value, as in `fn f() -> u8 { a }`")
        })
    }

    /// Lowers any call; `Some(None)` if it has no value.
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[Tree],
        want: Option<Width>,
        span: Span,
    ) -> Option<Option<Value>> {
        match name.text.as_str() {
            "signed" | "unsigned" => {
                let [inner] = self.exactly(name, arguments, span)?;
                let want = self.hint(inner).or(want);
                let value = self.value(inner, want)?;
                Some(Some(Value { expr: value.expr, signed: name.text == "signed" }))
            }
            "zext" | "sext" => self.extension(name, arguments, want, span).map(Some),
            "rotl" | "rotr" => {
                let [value, count] = self.exactly(name, arguments, span)?;
                let want = self.hint(value).or(want);
                let (value, count) = self.both(value, want, count, CountWidth::Own)?;
                let operator =
                    if name.text == "rotl" { BinaryOperator::RotateLeft } else { BinaryOperator::RotateRight };
                Some(Some(Value::unsigned(Expr::binary(operator, value.expr, count.expr))))
            }
            // A definition may want this name for a memory or a function of its own.
            "code" if self.is_free("code") => {
                let [operand] = self.exactly(name, arguments, span)?;
                self.operand_code(operand).map(Some)
            }
            "address" if self.is_free("address") => {
                let [operand] = self.exactly(name, arguments, span)?;
                self.address_of(operand).map(Some)
            }
            text if is_type(text) => self.conversion(name, arguments, span).map(Some),
            text => match self.declarations.names.find(text, name.span) {
                Some(Named::Function(at)) => self.function(at, name, arguments, want, span),
                Some(Named::Family(at)) => self.family(at, name, arguments, want, span),
                found => self.not_a_function(name, found),
            },
        }
    }

    /// Lowers `code(X)`: the bits of an operand, which for a register are its number.
    fn operand_code(&mut self, operand: &Tree) -> Option<Value> {
        let id = match &operand.kind {
            ExprKind::Name(name) => self.operand_named(name),
            _ => None,
        };
        let is_register =
            |id: &OperandId| matches!(self.field(*id).domain, Domain::Registers(_)) || self.counter(*id).is_some();
        let Some(id) = id.filter(is_register) else {
            let message = "this is not a register operand of the row";
            return self.fail(codes::NOT_HERE, operand.span, message, "as in `code(R)`, where `R` is in the syntax");
        };
        let width = self.field(id).width;
        Some(Value::unsigned(match self.counter(id) {
            Some(counter) => Expr::constant(width, counter.code),
            None => Expr { width, kind: SemanticKind::Code(id) },
        }))
    }

    /// Whether the definition has no function with this name, so that it is built in.
    fn is_free(&self, name: &str) -> bool {
        !matches!(self.declarations.names.peek(name), Some(Named::Function(_) | Named::Family(_)))
    }

    fn not_a_function<T>(&mut self, name: &Name, found: Option<Named>) -> Option<T> {
        if let Some(named) = found {
            let message = format!("`{}` is {}, not a function", name.text, named.kind());
            let help = match named {
                Named::Memory(_) => format!("a cell is written `{}[…]`", name.text),
                Named::Device(_) => format!("ask it for something, as in `{}.read()`", name.text),
                _ => "only functions and families are called".to_owned(),
            };
            return self.fail(codes::WRONG_KIND, name.span, message, help);
        }
        if self.declarations.names.is_broken(&name.text) {
            return None;
        }
        self.declarations.names.mark_broken(&name.text);
        let message = format!("there is no function named `{}`", name.text);
        let is_function = |named| matches!(named, Named::Function(_) | Named::Family(_));
        let near = self.declarations.names.suggestion(&name.text, is_function);
        let diagnostic = Diagnostic::new(codes::UNKNOWN_NAME, name.span, message);
        self.report(match near.or_else(|| nearest(&name.text, BUILT_IN)) {
            Some(meant) => diagnostic.did_you_mean(name.span, meant),
            None => diagnostic.help(format!("declare it, as in `fn {}(x: u8) -> u8 {{ … }}`", name.text)),
        })
    }

    /// Returns the arguments if there are exactly `N`, and reports it otherwise.
    fn exactly<'t, const N: usize>(&mut self, name: &Name, arguments: &'t [Tree], span: Span) -> Option<&'t [Tree; N]> {
        let list: Option<&[Tree; N]> = arguments.try_into().ok();
        if list.is_none() {
            self.wrong_count::<()>(&name.text, N, arguments.len(), span);
        }
        list
    }

    fn wrong_count<T>(&mut self, name: &str, wanted: usize, given: usize, span: Span) -> Option<T> {
        let noun = if wanted == 1 { "argument" } else { "arguments" };
        let message = format!("`{name}` takes {wanted} {noun}, found {given}");
        self.fail(codes::ARGUMENT_COUNT, span, message, "write one value for each parameter")
    }

    /// Lowers `u16(x)`, `s16(x)`.
    fn conversion(&mut self, name: &Name, arguments: &[Tree], span: Span) -> Option<Value> {
        let [inner] = self.exactly(name, arguments, span)?;
        let signed = name.text.starts_with('s');
        let letter = &name.text[1..];
        let width = match letter.parse() {
            Ok(bits) => ExprKind::Number(bits),
            Err(_) => ExprKind::Name(letter.to_owned()),
        };
        let width = Box::new(Tree { kind: width, span: name.span });
        let width = self.width(&Type { signed, width, span: name.span })?;
        let want = if self.hint(inner).is_none() { Some(width) } else { None };
        let value = self.value(inner, want)?;
        self.extended(value, width, signed, span)
    }

    /// Lowers `zext(x)`, `sext(x, 16)`.
    fn extension(&mut self, name: &Name, arguments: &[Tree], want: Option<Width>, span: Span) -> Option<Value> {
        let signed = name.text == "sext";
        let (inner, width) = match arguments {
            [inner] => (inner, want),
            [inner, bits] => {
                let width = self.constant(bits).and_then(|bits| u64::try_from(bits).ok()).and_then(Width::computed);
                if width.is_none() {
                    let message = "this is not a width";
                    return self.fail(codes::BAD_WIDTH, bits.span, message, "a width is 1 to 128 bits");
                }
                (inner, width)
            }
            _ => return self.wrong_count(&name.text, 1, arguments.len(), span),
        };
        let Some(width) = width else {
            let message = format!("the width of this `{}` is not known here", name.text);
            let help = format!("write the width: `{}16(x)`", if signed { 's' } else { 'u' });
            return self.fail(codes::WIDTH_UNKNOWN, span, message, help);
        };
        let want = if self.hint(inner).is_none() { Some(width) } else { None };
        let value = self.value(inner, want)?;
        self.extended(value, width, signed, span)
    }

    fn extended(&mut self, value: Value, width: Width, signed: bool, span: Span) -> Option<Value> {
        if value.width() > width {
            let message = format!("this value has {} bits, which is more than {}", value.width().bits(), width.bits());
            let help = format!("take the bits you mean, as in `x[{}:0]`", width.bits() - 1);
            return self.fail(codes::WIDTH_MISMATCH, span, message, help);
        }
        let expr = if signed { Expr::sign_extend(width, value.expr) } else { Expr::zero_extend(width, value.expr) };
        Some(Value { expr, signed })
    }

    fn function(
        &mut self,
        at: usize,
        name: &Name,
        arguments: &[Tree],
        want: Option<Width>,
        span: Span,
    ) -> Option<Option<Value>> {
        let function = self.declarations.functions[at];
        self.inline(name, &function.parameters, function.result.as_ref(), &function.body, arguments, want, span)
    }

    fn family(
        &mut self,
        at: usize,
        name: &Name,
        arguments: &[Tree],
        want: Option<Width>,
        span: Span,
    ) -> Option<Option<Value>> {
        let chosen = self.setting.chosen.iter().find(|chosen| chosen.family == at);
        let Some(chosen) = chosen.filter(|_| self.calls.is_empty()) else {
            let message = format!("this row does not say which member of `{}` it means", name.text);
            let help = format!("write `{{{}}}` in the syntax and in the encoding of the row", name.text);
            return self.fail(codes::NOT_HERE, name.span, message, help);
        };
        let tree = self.declarations.families[at].tree;
        let body = &tree.members[chosen.member].body;
        self.inline(name, &tree.parameters, tree.result.as_ref(), body, arguments, want, span)
    }

    /// Replaces a call with the function's body: arguments are evaluated first, from left to right.
    #[expect(clippy::too_many_arguments, reason = "what a call consists of")]
    fn inline(
        &mut self,
        name: &Name,
        parameters: &[(Name, Type)],
        result: Option<&Type>,
        body: &Block,
        arguments: &[Tree],
        want: Option<Width>,
        span: Span,
    ) -> Option<Option<Value>> {
        if self.calls.iter().any(|(known, _)| *known == name.text) {
            let message = format!("`{}` calls itself", name.text);
            let help = "a meaning must end after a fixed number of steps; use `for` over a list";
            return self.fail(codes::RECURSION, span, message, help);
        }
        if self.calls.len() >= limits::NESTING {
            let message = format!("calls nest more than {} deep", limits::NESTING);
            return self.fail(codes::TOO_DEEP, span, message, "call fewer functions from one another");
        }
        if arguments.len() != parameters.len() {
            return self.wrong_count(&name.text, parameters.len(), arguments.len(), span);
        }
        let letters = self.solve_letters(parameters, arguments, result, want);
        let mut frame: Vec<(String, Binding)> =
            letters.iter().map(|(letter, bits)| (letter.clone(), Binding::Number(*bits))).collect();
        for ((parameter, ty), argument) in parameters.iter().zip(arguments) {
            let width = self.in_frame(&letters, |l| l.width(ty))?;
            let value = self.value(argument, Some(width))?;
            let value = self.keep(value);
            frame.push((parameter.text.clone(), Binding::Value(Value { signed: ty.signed, ..value })));
        }
        let (outer, length) = (self.frame, self.scope.len());
        self.frame = length;
        self.scope.extend(frame);
        self.calls.push((name.text.clone(), span));
        let given = match self.setting.site {
            Site::Prompt if self.calls.len() == 1 => self.told_here(name, span, |l| l.body(body, result, span)),
            _ => self.body(body, result, span),
        };
        self.calls.pop();
        self.scope.truncate(length);
        self.frame = outer;
        given
    }

    /// Runs `inside`, whose places are in the definition, and moves its reports to this call.
    fn told_here<T>(&mut self, name: &Name, span: Span, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(self.diagnostics);
        let result = inside(self);
        let reported = std::mem::replace(self.diagnostics, before);
        for diagnostic in reported.into_sorted() {
            let message = format!("`{}` cannot be called: {}", name.text, diagnostic.message);
            let moved = Diagnostic::new(diagnostic.code, span, message);
            self.diagnostics.push(diagnostic.help.into_iter().fold(moved, Diagnostic::help));
        }
        result
    }

    fn body(&mut self, body: &Block, result: Option<&Type>, span: Span) -> Option<Option<Value>> {
        let Some(result) = result else { return self.block_for_effect(body).map(|()| None) };
        let width = self.width(result)?;
        for statement in &body.statements {
            self.statement(statement)?;
        }
        let Some(value) = &body.value else {
            let message = format!("this should return {} bits, but it ends without a value", width.bits());
            return self.fail(codes::NO_VALUE, span, message, "the last thing in the block is its value: `{ …; x }`");
        };
        let value = self.value(value, Some(width))?;
        Some(Some(Value { expr: value.expr, signed: result.signed }))
    }

    /// Finds the widths that letters stand for: from the arguments, or from the expected width of the result.
    fn solve_letters(
        &self,
        parameters: &[(Name, Type)],
        arguments: &[Tree],
        result: Option<&Type>,
        want: Option<Width>,
    ) -> Vec<(String, i128)> {
        let mut letters = self.letters(parameters, arguments);
        if let (Some(ExprKind::Name(letter)), Some(want)) = (result.map(|result| &result.width.kind), want)
            && !self.is_width(letter)
            && !letters.iter().any(|(known, _)| known == letter)
        {
            letters.push((letter.clone(), i128::from(want.bits())));
        }
        letters
    }

    /// Runs `inside` in a scope where only the letters are known.
    fn in_frame<T>(&mut self, letters: &[(String, i128)], inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (outer, length) = (self.frame, self.scope.len());
        self.frame = length;
        self.scope.extend(letters.iter().map(|(letter, bits)| (letter.clone(), Binding::Number(*bits))));
        let result = inside(self);
        self.scope.truncate(length);
        self.frame = outer;
        result
    }

    /// Lowers `console.write(x)`; `Some(None)` if the operation has no value.
    pub(super) fn device_call(&mut self, device: &Name, operation: &Name, arguments: &[Tree]) -> Option<Option<Value>> {
        let id = match self.declarations.names.find(&device.text, device.span) {
            Some(Named::Device(id)) => id,
            _ => {
                let is_device = |named| matches!(named, Named::Device(_));
                let declare = format!("declare it with `device {} : stream`", device.text);
                self.declarations.names.report_wrong(device, "device", is_device, declare, self.diagnostics);
                return None;
            }
        };
        let operations = self.declarations.devices[id.index()].kind.operations();
        let Some(known) = operations.iter().find(|known| known.operation.name() == operation.text) else {
            let names: Vec<_> = operations.iter().map(|known| known.operation.name()).collect();
            let message = format!("`{}` has no operation `{}`", device.text, operation.text);
            let help = format!("it has {}", names.join(", "));
            return self.fail(codes::UNKNOWN_DEVICE, operation.span, message, help);
        };
        if known.arguments.len() != arguments.len() {
            return self.wrong_count(known.operation.name(), known.arguments.len(), arguments.len(), operation.span);
        }
        let mut given = Vec::new();
        for (argument, width) in arguments.iter().zip(&known.arguments) {
            let value = self.value(argument, Some(*width))?;
            given.push(self.keep(value).expr);
        }
        let (operation, operation_span) = (known.operation, operation.span);
        let Some(width) = known.result else {
            self.emit(Statement::DeviceWrite { device: id, operation, arguments: given });
            return Some(None);
        };
        let into = self.local(width);
        self.spend(operation_span)?;
        self.emit(Statement::DeviceRead { into, device: id, operation, arguments: given });
        Some(Some(Value::unsigned(Expr::local(width, into))))
    }
}
