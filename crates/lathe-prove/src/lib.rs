//! Claims about instruction sets and about the hardware made from them, as questions for a solver.
//!
//! A question describes a case in which the claim is false; if the solver finds that there is none, the claim is proven for every
//! state, every memory and every answer of a device. The meaning of a definition comes from the model directly, and the
//! core of `lathe hdl` by way of Yosys, so that the two can only agree by being the same.
//!
//! This crate writes text and reads answers. It runs no tool, and knows no file.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod answer;
mod compare;
mod core;
mod definition;
mod meaning;
mod module;
mod script;
mod waves;

pub use answer::{Answer, Case};
pub use core::{Claim, Core, claims};
pub use definition::{Different, Pair, equal, keeps, pairs};
pub use module::{Module, yosys_script};
pub use waves::Wave;

use script::Script;

/// A question, in SMT-LIB.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    watched: Vec<Watch>,
}

/// What is told about a case in which a claim does not hold: names, and terms whose values are asked for.
#[derive(Clone, Debug)]
enum Watch {
    /// Something before the step.
    Before(String, String),
    /// The next cell of the instruction.
    Code(String),
    /// A cell that the instruction reads, before the step: the memory, the address and the content.
    Read(String, String, String),
    /// What the next read from a stream gives.
    Input(String),
    /// Something after it: as it should be, and as it is.
    After(String, String, String),
    /// A cell after it: the memory, the address, as it should be, and as it is.
    Cell(String, String, String, String),
    /// How the machine goes on: the word for it, whether it should be so, and whether it is.
    Status(&'static str, String, String),
    /// Something that should hold.
    Same(String, String),
    /// A signal of the core in the next clock cycle: its name, its bits, its value.
    Wave(String, u32, String),
}

impl Watch {
    fn terms(&self) -> Vec<&str> {
        match self {
            Watch::Before(_, term)
            | Watch::Same(_, term)
            | Watch::Code(term)
            | Watch::Input(term)
            | Watch::Wave(_, _, term) => {
                vec![term]
            }
            Watch::Read(_, address, content) => vec![address, content],
            Watch::After(_, mine, its) | Watch::Status(_, mine, its) => vec![mine, its],
            Watch::Cell(_, address, mine, its) => vec![address, mine, its],
        }
    }
}

impl Query {
    fn new(script: Script, watched: Vec<Watch>) -> Query {
        Query { text: script.finish(), watched }
    }

    /// The whole script for a solver.
    pub fn script(&self) -> String {
        let terms: Vec<&str> = self.watched.iter().flat_map(Watch::terms).collect();
        format!(
            "(set-option :produce-models true)\n(set-logic QF_UFBV)\n{}(check-sat)\n(get-value ({}))\n",
            self.text,
            terms.join(" ")
        )
    }

    /// What the solver found.
    ///
    /// # Errors
    /// If that is no answer: the solver's own words.
    pub fn read(&self, output: &str) -> Result<Answer, String> {
        answer::read(&self.watched, output)
    }
}
