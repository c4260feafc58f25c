//! Compiles texts about a machine: the conditions and watches of a debugger, and the statements typed to change a
//! register. They are written in the language of the definition and become the same semantics, so only the engines ever
//! compute anything.
//!
//! Not here: evaluation. `lathe_vm::Interpreter::evaluate` does it.

use std::collections::BTreeMap;

use lathe_base::{Diagnostic, Diagnostics, FileId, Span, Width};

use crate::codes;
use crate::elaborate::{Declarations, meaning};
use crate::language::parser::{parse_expression, parse_statements};
use crate::model::Isa;
use crate::semantics::{Body, Effects};

/// Names for numbers that the definition does not have, such as the labels of a program. The definition's own names
/// take precedence.
pub trait Symbols {
    /// Returns the number that a name stands for.
    fn value(&self, name: &str) -> Option<u64>;
    /// Returns all names, for "did you mean".
    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_>;
}

/// No symbols.
impl Symbols for () {
    fn value(&self, _name: &str) -> Option<u64> {
        None
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }
}

impl Symbols for BTreeMap<String, u64> {
    fn value(&self, name: &str) -> Option<u64> {
        self.get(name).copied()
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.keys().map(String::as_str))
    }
}

/// An expression, ready to be evaluated in any state of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The meaning. It has a value and changes nothing.
    pub body: Body,
    /// Whether the value is a signed number.
    pub signed: bool,
}

impl Compiled {
    /// Returns the width of the value; numbers that get no width from elsewhere have 64 bits.
    pub fn width(&self) -> Width {
        self.body.value.as_ref().map_or(Width::MAX, |value| value.width)
    }
}

impl Isa {
    /// Compiles an expression such as `ram[sp] == 0 && a > 3`. It can name whatever a meaning can, except operands and
    /// `next`, and it only looks at the machine.
    ///
    /// ```
    /// # let text = "machine m \"\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, sp : u8\n\
    /// #   instructions {\n  go | 0000 0000 | a = ram[sp]\n}\n";
    /// # let isa = lathe_isa::load(text).isa.unwrap();
    /// let stops = isa.compile("ram[sp] == 0 && a > 3", &()).unwrap();
    /// assert_eq!(stops.width().bits(), 1);
    /// ```
    ///
    /// # Errors
    /// If the text cannot be understood, or would change the machine. Places are in this text.
    pub fn compile(&self, text: &str, symbols: &dyn Symbols) -> Result<Compiled, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let declarations = Declarations::of(self, text);
        let compiled = parse_expression(text, &mut diagnostics).and_then(|expr| {
            let setting = meaning::Setting::prompt(symbols);
            let (body, signed) = meaning::look(&declarations, setting, &expr, &mut diagnostics)?;
            diagnostics.extend(change(self, &body.effects(), expr.span));
            Some(Compiled { body, signed })
        });
        compiled.filter(|_| !diagnostics.has_errors()).ok_or_else(|| reported(diagnostics, text))
    }

    /// Compiles statements such as `r1 = 5; ram[0x10] = 3`, to be executed between two instructions. An assignment to
    /// the program counter is a [`Jump`](crate::semantics::Statement::Jump).
    ///
    /// # Errors
    /// If the text cannot be understood. Places are in this text.
    pub fn compile_statements(&self, text: &str, symbols: &dyn Symbols) -> Result<Body, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let declarations = Declarations::of(self, text);
        let body = parse_statements(text, &mut diagnostics).and_then(|block| {
            meaning::perform(&declarations, meaning::Setting::prompt(symbols), &block, &mut diagnostics)
        });
        body.filter(|_| !diagnostics.has_errors()).ok_or_else(|| reported(diagnostics, text))
    }
}

/// Reports an expression that does more than look.
fn change(isa: &Isa, effects: &Effects, span: Span) -> Option<Diagnostic> {
    let device = effects.devices.first().map(|id| &isa.devices[id.index()].name);
    let (message, help) = if let Some(device) = device {
        let message = format!("this uses the device `{device}`, which can change it");
        (message, "an expression only looks at registers and memory")
    } else if !effects.writes.is_empty() || !effects.stores.is_empty() || effects.jumps || effects.halts {
        let message = "this would change the machine".to_owned();
        (message, "an expression only looks; call functions that assign nothing")
    } else {
        return None;
    };
    Some(Diagnostic::new(codes::NOT_HERE, span, message).help(help))
}

/// Returns the findings, with one added if there is no error: a failure must not go unexplained.
fn reported(mut diagnostics: Diagnostics, text: &str) -> Diagnostics {
    if !diagnostics.has_errors() {
        let span = Span::new(FileId(0), 0, text.len());
        let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, "this cannot be understood");
        diagnostics.push(diagnostic.help("write an expression such as `a + 1`"));
    }
    diagnostics
}
