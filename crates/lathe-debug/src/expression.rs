//! Expressions the user types, in the machine's own language: `r1 + 4`, `ram[page ++ sp]`.

use std::fmt;
use std::sync::Arc;

use lathe_base::Width;
use lathe_embed::{Changes, Console, Devices, State};
use lathe_isa::Isa;
use lathe_isa::compile::{Compiled, Symbols};
use lathe_isa::semantics::Body;
use lathe_vm::Interpreter;
use serde::Serialize;

use crate::Problem;
use crate::program::hexadecimal;

/// An expression, ready to be evaluated in any state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The text as typed.
    pub text: String,
    compiled: Compiled,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Value {
    /// Its bits.
    pub value: u64,
    /// The number of bits.
    pub bits: u32,
    /// Whether the bits are a signed number.
    pub signed: bool,
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let width = Width::new(u64::from(self.bits)).unwrap_or(Width::MAX);
        if self.bits == 1 {
            return write!(formatter, "{}", self.value);
        }
        // A plain number has as many digits as it needs: nothing gives its width.
        let bits = if self.bits == 64 { 64 - self.value.leading_zeros() } else { self.bits };
        write!(formatter, "{}", hexadecimal(self.value, bits.max(4)))?;
        match width.signed(self.value) {
            negative if self.signed && negative < 0 => write!(formatter, " ({negative})"),
            _ if self.value > 9 || self.signed => write!(formatter, " ({})", self.value),
            _ => Ok(()),
        }?;
        match char::from_u32(self.value as u32) {
            Some(character) if self.bits <= 16 && self.value < 0x7F && character.is_ascii_graphic() => {
                write!(formatter, " '{character}'")
            }
            _ => Ok(()),
        }
    }
}

/// Evaluates expressions beside the machine, without touching it.
pub(crate) struct Evaluator {
    isa: Arc<Isa>,
    interpreter: Interpreter,
    /// Expressions reach no device, but the interpreter needs a set of them.
    devices: Devices,
}

impl Evaluator {
    pub(crate) fn new(isa: &Arc<Isa>) -> Evaluator {
        let devices = Devices::new(isa, Console::default());
        Evaluator { isa: isa.clone(), interpreter: Interpreter::new(isa), devices }
    }

    pub(crate) fn compile(&self, text: &str, names: &dyn Symbols) -> Result<Expression, Problem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Problem::new("an expression is missing").help("write one such as `a + 1`"));
        }
        let compiled = self.isa.compile(text, names).map_err(|found| Problem::in_expression(text, found))?;
        Ok(Expression { text: text.to_owned(), compiled })
    }

    pub(crate) fn value(&mut self, expression: &Expression, state: &mut State) -> Result<Value, Problem> {
        let value = self.run(&expression.compiled.body, state)?;
        Ok(Value { value, bits: expression.compiled.width().bits(), signed: expression.compiled.signed })
    }

    /// Returns the bits of an expression, for watching; 0 if it cannot be evaluated.
    pub(crate) fn bits(&mut self, expression: &Expression, state: &mut State) -> u64 {
        self.run(&expression.compiled.body, state).unwrap_or(0)
    }

    /// Performs statements.
    pub(crate) fn perform(&mut self, text: &str, names: &dyn Symbols, state: &mut State) -> Result<(), Problem> {
        let body = self.isa.compile_statements(text, names).map_err(|found| Problem::in_expression(text, found))?;
        if let Some(device) = body.effects().devices.first() {
            let name = &self.isa.devices[device.index()].name;
            let message = format!("`{text}` would use the device `{name}`");
            return Err(Problem::new(message).help("registers and memory can be set; `input` gives the console bytes"));
        }
        self.run(&body, state).map(|_| ())
    }

    /// Returns the changes made by the last statements.
    pub(crate) fn changes(&self, state: &State) -> Changes {
        self.interpreter.changes(state)
    }

    fn run(&mut self, body: &Body, state: &mut State) -> Result<u64, Problem> {
        let done = self.interpreter.evaluate(body, state, &mut self.devices);
        done.map_err(|_| Problem::new("this faults where it is evaluated"))
    }
}
