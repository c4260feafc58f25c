//! Meanings: from statements as written to the semantics, names resolved, widths checked,
//! functions inlined, lists unrolled.
//!
//! Evaluation is from left to right. Expressions of the semantics are pure, so whatever
//! reaches memory or a device becomes a statement before the expression that uses it; a
//! value read from a register before such a statement is kept in a local.

mod calls;
mod expressions;
mod operators;
mod places;
mod statements;

use lathe_base::{Code, Diagnostic, Diagnostics, Span, Width, limits};

use super::World;
use super::constants::{constant, declared};
use crate::codes;
use crate::language::ast;
use crate::model::{FieldId, Place};
use crate::semantics::{Block, Body, Expr, LocalId, Statement};
use crate::simplify::simplify;

/// A member chosen from a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) family: usize,
    pub(crate) member: usize,
}

/// Where a meaning stands, and so what it may say.
pub(crate) struct Setting {
    operands: Vec<FieldId>,
    chosen: Vec<Chosen>,
    /// The length of every instruction, if it is one.
    uniform: Option<u32>,
    /// Given values, such as the address of a mapped access.
    given: Vec<(&'static str, Width)>,
    /// Whether there is an instruction being executed, so that it can jump, halt or fault.
    control: bool,
    /// Whether the machine may stop after it.
    halts: bool,
    /// Whether that instruction has an end.
    next: bool,
}

impl Setting {
    pub(crate) fn row(operands: Vec<FieldId>, chosen: Vec<Chosen>, uniform: Option<u32>) -> Setting {
        Setting { operands, chosen, uniform, given: Vec::new(), control: true, halts: true, next: true }
    }

    pub(crate) fn illegal() -> Setting {
        Setting { control: true, ..Setting::writing(&[]) }
    }

    /// The reading of a mapped address, and whatever else only looks.
    pub(crate) fn reading(given: &[(&'static str, Width)]) -> Setting {
        Setting { halts: false, ..Setting::writing(given) }
    }

    /// The writing of a mapped address.
    pub(crate) fn writing(given: &[(&'static str, Width)]) -> Setting {
        let given = given.to_vec();
        Setting { operands: vec![], chosen: vec![], uniform: None, given, control: false, halts: true, next: false }
    }
}

/// The semantics of a block that is done for its effect.
pub(crate) fn perform(
    world: &World,
    setting: Setting,
    block: &ast::Block,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut lowerer = Lowerer::new(world, setting, diagnostics);
    lowerer.block_for_effect(block)?;
    Some(lowerer.finish(None))
}

/// The semantics of an expression that gives a value of this width.
pub(crate) fn give(
    world: &World,
    setting: Setting,
    expr: &ast::Expr,
    width: Width,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let mut lowerer = Lowerer::new(world, setting, diagnostics);
    let value = lowerer.value(expr, Some(width))?;
    Some(lowerer.finish(Some(value.expr)))
}

/// A value, and whether operators that mind the sign take it as two's complement.
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
    /// A number: a width, a position.
    Number(i128),
    /// A `let` whose value could not be understood, which has been reported.
    Broken,
}

struct Lowerer<'w, 'a> {
    world: &'w World<'a>,
    setting: Setting,
    diagnostics: &'w mut Diagnostics,
    locals: Vec<Width>,
    /// The block being filled is the last.
    blocks: Vec<Block>,
    scope: Vec<(String, Binding)>,
    /// Names below this position belong to callers and are not seen.
    frame: usize,
    /// The functions and families being inlined.
    calls: Vec<String>,
    nodes: usize,
    /// How deep the lowering is inside expressions, blocks and calls.
    depth: usize,
    gave_up: bool,
}

impl<'w, 'a> Lowerer<'w, 'a> {
    fn new(world: &'w World<'a>, setting: Setting, diagnostics: &'w mut Diagnostics) -> Self {
        let mut lowerer = Lowerer {
            world,
            setting,
            diagnostics,
            locals: Vec::new(),
            blocks: vec![Vec::new()],
            scope: Vec::new(),
            frame: 0,
            calls: Vec::new(),
            nodes: 0,
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
        simplify(Body { locals: self.locals, block: self.blocks.pop().unwrap_or_default(), value })
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    fn fail<T>(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.report(Diagnostic::new(code, span, message).help(help))
    }

    /// Counts one node of the semantics; gives up when there are too many.
    fn spend(&mut self, span: Span) -> Option<()> {
        self.nodes += 1;
        self.world.nodes.set(self.world.nodes.get() + 1);
        let too_many_locals = self.locals.len() >= usize::from(u16::MAX) - 256;
        let (one, all) =
            (self.nodes > limits::MEANING_NODES || too_many_locals, self.world.nodes.get() > limits::TOTAL_NODES);
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
            return self.fail(codes::TOO_MANY, span, message, "call fewer functions in it, or make lists shorter");
        }
        None
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
            return self.fail(codes::TOO_DEEP, span, message, "split it with `let`, or call fewer functions");
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

    /// Runs `inside` with a new block and gives that block.
    fn in_block<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<(T, Block)> {
        self.blocks.push(Vec::new());
        let names = self.scope.len();
        let result = inside(self);
        self.scope.truncate(names);
        let block = self.blocks.pop().unwrap_or_default();
        result.map(|result| (result, block))
    }

    /// Keeps a value in a local from `at` on, if statements emitted since could change it.
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

    /// Keeps a value in a local now, unless it cannot change anyway and is short: it may be used
    /// many times, and a long one would grow with every use.
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

    /// The value of an expression that is a number whatever the machine does.
    fn constant(&self, expr: &ast::Expr) -> Option<i128> {
        constant(expr, &|name| match self.binding(name) {
            Some(Binding::Number(value)) => Some(*value),
            Some(_) => None,
            None => declared(&self.world.names, name),
        })
    }
}
