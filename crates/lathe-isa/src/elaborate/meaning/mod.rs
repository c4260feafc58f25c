//! Meanings: lowers statements as written to the semantics, with names resolved, widths checked, functions inlined and
//! lists unrolled.
//!
//! Evaluation is from left to right. Expressions of the semantics are pure, so every access to memory or a device
//! becomes a statement before the expression that uses its result; a value read from a register before such a statement
//! is kept in a local.

mod calls;
mod cycles;
mod expressions;
mod halves;
mod modes;
mod operators;
mod places;
mod statements;

use lathe_base::{Code, Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::{constant, declared};
use super::lengths::Lengths;
use super::modes::Counter;
use super::rows::Draft;
use crate::codes;
use crate::compile::Symbols;
use crate::language::ast;
use crate::model::{Chosen, FieldId, Place};
use crate::semantics::{Block, Body, Expr, LocalId, OperandId, Statement};
use crate::simplify::simplify;
use statements::Assignable;

/// Where a meaning stands, which decides what it may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// A row of instructions.
    Row,
    /// `on illegal` and `on step`: an instruction is due, but its end is not known.
    Hook,
    /// The condition of `on step`.
    Condition,
    /// Reading a mapped address.
    MapRead,
    /// Writing a mapped address.
    MapWrite,
    /// A separate text, such as one typed into a debugger.
    Prompt,
}

impl Site {
    /// Whether the program counter can be read and changed, and the instruction can fault.
    fn has_pc(self) -> bool {
        matches!(self, Site::Row | Site::Hook | Site::Prompt)
    }

    /// Whether the meaning may halt the machine.
    fn may_halt(self) -> bool {
        self.has_pc() || self == Site::MapWrite
    }

    /// Whether there is an instruction with an end.
    fn has_next(self) -> bool {
        self == Site::Row
    }
}

/// What a meaning can refer to, besides the declarations.
pub(crate) struct Setting<'s> {
    operands: Vec<FieldId>,
    /// The operands that are the program counter.
    counters: Vec<(FieldId, Counter<'s>)>,
    chosen: Vec<Chosen>,
    /// The lengths of instructions, where one can be skipped.
    lengths: Option<&'s Lengths<'s>>,
    /// Given values, such as the address of a mapped access.
    given: Vec<(&'static str, Width)>,
    site: Site,
    symbols: &'s dyn Symbols,
}

impl<'s> Setting<'s> {
    fn new(site: Site) -> Setting<'s> {
        let (operands, counters, chosen, given) = (vec![], vec![], vec![], vec![]);
        Setting { operands, counters, chosen, lengths: None, given, site, symbols: &() }
    }

    pub(crate) fn row(draft: &Draft<'s>, chosen: Vec<Chosen>, lengths: &'s Lengths<'s>) -> Setting<'s> {
        let (operands, counters) = (draft.operands.clone(), draft.counters.clone());
        Setting { operands, counters, chosen, lengths: Some(lengths), ..Setting::new(Site::Row) }
    }

    /// Makes the setting of `on illegal` and `on step`.
    pub(crate) fn hook() -> Setting<'s> {
        Setting::new(Site::Hook)
    }

    /// Makes the setting of the condition of `on step`.
    pub(crate) fn condition() -> Setting<'s> {
        Setting::new(Site::Condition)
    }

    /// Makes the setting for reading a mapped address.
    pub(crate) fn reading(address: Width) -> Setting<'s> {
        Setting { given: vec![("address", address)], ..Setting::new(Site::MapRead) }
    }

    /// Makes the setting for writing a mapped address.
    pub(crate) fn writing(address: Width, value: Width) -> Setting<'s> {
        Setting { given: vec![("address", address), ("value", value)], ..Setting::new(Site::MapWrite) }
    }

    /// Makes the setting of a separate text, with names for numbers besides those of the definition.
    pub(crate) fn prompt(symbols: &'s dyn Symbols) -> Setting<'s> {
        Setting { symbols, ..Setting::new(Site::Prompt) }
    }
}

/// Lowers a block that is executed for its effect.
pub(crate) fn perform(
    declarations: &Declarations,
    setting: Setting,
    block: &ast::Block,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut lowerer = Lowerer::new(declarations, setting, diagnostics);
    lowerer.block_for_effect(block)?;
    Some(lowerer.finish(None))
}

/// What is done around every instruction: before and after its row's meaning.
#[derive(Default)]
pub(crate) struct Around {
    pub(crate) before: Option<ast::Block>,
    pub(crate) after: Option<ast::Block>,
}

/// Lowers a row, with what is done around it. It takes `cycles`, plus those that the meaning adds.
pub(crate) fn perform_row(
    declarations: &Declarations,
    setting: Setting,
    around: &Around,
    draft: &Draft,
    cycles: u64,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut lowerer = Lowerer::new(declarations, setting, diagnostics);
    let before = around.before.as_ref().map_or(Some(()), |block| lowerer.block_of_all(block));
    let prefixes = draft.prefixes.iter().try_for_each(|block| lowerer.block_of_all(block));
    let own = lowerer.apart(|lowerer| {
        draft.modes.iter().try_for_each(|operand| lowerer.work_out(operand, &draft.meaning, draft.row.syntax.span))?;
        lowerer.block_for_effect(&draft.meaning)
    });
    let after = around.after.as_ref().map_or(Some(()), |block| lowerer.block_after(block, cycles));
    before.and(prefixes).and(own).and(after)?;
    Some(lowerer.finish(None))
}

/// Lowers an expression to a value of this width.
pub(crate) fn give(
    declarations: &Declarations,
    setting: Setting,
    expr: &ast::Expr,
    width: Width,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut lowerer = Lowerer::new(declarations, setting, diagnostics);
    let value = lowerer.value(expr, Some(width))?;
    Some(lowerer.finish(Some(value.expr)))
}

/// Lowers an expression to a value of its own width, and says whether the value is signed.
pub(crate) fn look(
    declarations: &Declarations,
    setting: Setting,
    expr: &ast::Expr,
    diagnostics: &mut Diagnostics,
) -> Option<(Body, bool)> {
    let mut lowerer = Lowerer::new(declarations, setting, diagnostics);
    let span = expr.span;
    let value = lowerer.value(expr, None)?;
    let Value { expr, signed } = lowerer.narrow(value, span, "what is shown")?;
    Some((lowerer.finish(Some(expr)), signed))
}

/// A value, and whether sign-sensitive operators take it as two's complement.
#[derive(Clone, Debug)]
struct Value {
    expr: Expr,
    signed: bool,
}

impl Value {
    fn unsigned(expr: Expr) -> Value {
        Value { expr, signed: false }
    }

    fn width(&self) -> Width {
        self.expr.width
    }
}

/// What a name inside a meaning stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// `let`: a local that can be assigned.
    Variable(LocalId, Width, bool),
    /// A parameter, or an item of a `for`: a value.
    Value(Value),
    /// An item of a `for`: a register or view.
    Place(Place),
    /// An operand with its mode chosen: the place that it reaches.
    Target(Assignable),
    /// A field of a mode.
    Operand(OperandId),
    /// A number: a width, a position.
    Number(i128),
    /// A `let` whose value could not be understood and has been reported.
    Broken,
}

struct Lowerer<'w, 'a> {
    declarations: &'w Declarations<'a>,
    setting: Setting<'w>,
    diagnostics: &'w mut Diagnostics,
    locals: Vec<Width>,
    /// The open blocks; the last is being filled.
    blocks: Vec<Block>,
    scope: Vec<(String, Binding)>,
    /// Names below this position belong to callers and are hidden.
    frame: usize,
    /// The functions and families being inlined, and where each is called.
    calls: Vec<(String, Span)>,
    nodes: usize,
    /// Inside a mode, the offset of `next` in cells from the beginning of the instruction.
    ahead: Option<u32>,
    /// Whether a value has more than 64 bits.
    has_wide: bool,
    /// How deep the lowering is in expressions, blocks and calls.
    depth: usize,
    gave_up: bool,
}

impl<'w, 'a> Lowerer<'w, 'a> {
    fn new(declarations: &'w Declarations<'a>, setting: Setting<'w>, diagnostics: &'w mut Diagnostics) -> Self {
        let mut lowerer = Lowerer {
            declarations,
            setting,
            diagnostics,
            locals: Vec::new(),
            blocks: vec![Vec::new()],
            scope: Vec::new(),
            frame: 0,
            calls: Vec::new(),
            nodes: 0,
            ahead: None,
            has_wide: false,
            depth: 0,
            gave_up: false,
        };
        for (name, width) in lowerer.setting.given.clone() {
            let local = lowerer.local(width);
            let value = Value::unsigned(Expr::local(width, local));
            lowerer.scope.push((name.to_owned(), Binding::Value(value)));
        }
        lowerer
    }

    fn finish(mut self, value: Option<Expr>) -> Body {
        let body = Body { locals: self.locals, block: self.blocks.pop().unwrap_or_default(), value };
        let body = if self.has_wide { halves::split(body) } else { body };
        debug_assert!(halves::is_narrow(&body), "a value of more than 64 bits is left");
        simplify(body)
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    fn fail<T>(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.report(Diagnostic::new(code, span, message).help(help))
    }

    /// Counts nodes of the semantics.
    fn count(&mut self, nodes: usize) {
        self.nodes += nodes;
        self.declarations.nodes.set(self.declarations.nodes.get() + nodes);
    }

    /// Counts one node of the semantics; gives up when there are too many.
    fn spend(&mut self, span: Span) -> Option<()> {
        self.count(1);
        let too_many_locals = self.locals.len() >= usize::from(u16::MAX) - 256;
        let (one, all) = (
            self.nodes > limits::MEANING_NODES || too_many_locals,
            self.declarations.nodes.get() > limits::TOTAL_NODES,
        );
        if !one && !all {
            return Some(());
        }
        if !self.gave_up {
            self.gave_up = true;
            let message = if one {
                format!("this meaning has more than {} parts once functions are put in place", limits::MEANING_NODES)
            } else {
                format!("the meanings have more than {} parts together", limits::TOTAL_NODES)
            };
            return self.too_much(codes::TOO_MANY, span, message, "call fewer functions in it, or make lists shorter");
        }
        None
    }

    /// Reports a reached limit at the outermost call: the function itself may be as short as can be.
    fn too_much<T>(&mut self, code: Code, span: Span, message: String, help: &str) -> Option<T> {
        let Some((_, call)) = self.calls.first() else { return self.fail(code, span, message, help) };
        let diagnostic = Diagnostic::new(code, *call, message).also(span, "the limit is reached here");
        self.report(diagnostic.help(help))
    }

    /// Counts one level of nesting while `inside` runs; gives up when there are too many.
    fn deeper<T>(&mut self, span: Span, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= limits::MEANING_DEPTH {
            if self.gave_up {
                return None;
            }
            self.gave_up = true;
            let message =
                format!("this nests more than {} deep once functions are put in place", limits::MEANING_DEPTH);
            return self.too_much(codes::TOO_DEEP, span, message, "split it with `let`, or call fewer functions");
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn local(&mut self, width: Width) -> LocalId {
        self.locals.push(width);
        LocalId((self.locals.len() - 1) as u16)
    }

    fn emit(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement);
        }
    }

    fn emitted(&self) -> usize {
        self.blocks.last().map_or(0, Vec::len)
    }

    /// Runs `inside` with a new block and returns that block.
    fn in_block<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<(T, Block)> {
        self.blocks.push(Vec::new());
        let names = self.scope.len();
        let result = inside(self);
        self.scope.truncate(names);
        let block = self.blocks.pop().unwrap_or_default();
        result.map(|result| (result, block))
    }

    /// Runs `inside`; the names that it declares end with it.
    fn apart<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let names = self.scope.len();
        let result = inside(self);
        self.scope.truncate(names);
        result
    }

    /// Lowers a block that surrounds every instruction: it sees no operands.
    fn block_of_all(&mut self, block: &ast::Block) -> Option<()> {
        let (operands, chosen) = (std::mem::take(&mut self.setting.operands), std::mem::take(&mut self.setting.chosen));
        let done = self.apart(|lowerer| lowerer.block_for_effect(block));
        (self.setting.operands, self.setting.chosen) = (operands, chosen);
        done
    }

    /// Moves a value into a local set at `at`, if statements emitted since could change it.
    fn settle(&mut self, value: Value, at: usize) -> Value {
        if self.emitted() == at || value.expr.is_settled() {
            return value;
        }
        let width = value.width();
        let local = self.local(width);
        if let Some(block) = self.blocks.last_mut() {
            block.insert(at, Statement::Let(local, value.expr));
        }
        Value { expr: Expr::local(width, local), signed: value.signed }
    }

    /// Keeps a value in a local from now on, unless it cannot change anyway and is short: it may be used many times,
    /// and a long one would be copied with every use.
    fn keep(&mut self, value: Value) -> Value {
        if value.expr.is_short() && value.expr.is_settled() {
            return value;
        }
        let width = value.width();
        let local = self.local(width);
        self.emit(Statement::Let(local, value.expr));
        Value { expr: Expr::local(width, local), signed: value.signed }
    }

    fn binding(&self, name: &str) -> Option<&Binding> {
        self.scope[self.frame..].iter().rev().find(|(known, _)| known == name).map(|(_, binding)| binding)
    }

    /// Returns the number that a symbol of the setting stands for, unless the definition has that name.
    fn symbol(&self, name: &str) -> Option<i128> {
        let number = self.setting.symbols.value(name).filter(|_| self.declarations.names.peek(name).is_none());
        number.map(i128::from)
    }

    /// Evaluates an expression that is a number whatever the machine does.
    fn constant(&self, expr: &ast::Expr) -> Option<i128> {
        constant(expr, &|name, span| match self.binding(name) {
            Some(Binding::Number(value)) => Some(*value),
            Some(_) => None,
            None => declared(&self.declarations.names, name, span).or_else(|| self.symbol(name)),
        })
    }
}
