//! Claims about instruction sets and about the hardware made from them, as queries for a solver.
//!
//! A query describes a case in which the claim is false; if the solver finds no such case, the claim is proven for
//! every state, every memory and every answer of a device. The meaning of a definition comes directly from the model,
//! and the core of `lathe hdl` by way of Yosys, so the two can only agree by being the same.
//!
//! This crate only writes text and reads answers: it runs no tool and touches no file.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod answer;
mod compare;
mod core;
pub mod decoder;
mod definition;
pub mod division;
mod evaluate;
mod graph;
mod meaning;
mod module;
mod script;
mod waves;

pub use answer::{Answer, Case};
pub use core::{Claim, Core, claims};
pub use definition::{Different, Pair, equal, keeps, pairs};
pub use module::{Module, yosys_script};
pub use waves::Wave;

use graph::{Graph, Node};
use script::Script;

/// A query in SMT-LIB.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    graph: Graph,
    /// The nodes for which a solver chooses values.
    chosen: Vec<Node>,
    watched: Vec<Watch>,
}

/// An item to report about a counterexample: a name, and the terms whose values are wanted.
#[derive(Clone, Debug)]
enum Watch {
    /// Something before the step.
    Before(String, Node),
    /// The next cell of the instruction.
    Code(Node),
    /// A cell that the instruction reads, before the step: the memory, the address and the content.
    Read(String, Node, Node),
    /// The next value read from a stream.
    Input(Node),
    /// Something after the step: its expected and its actual value.
    After(String, Node, Node),
    /// A cell after the step: the memory, the address, the expected and the actual content.
    Cell(String, Node, Node, Node),
    /// How the machine goes on: the word for it, whether it should go on so, and whether it does.
    Status(&'static str, Node, Node),
    /// Something that should hold.
    Same(String, Node),
    /// A signal of the core in the next clock cycle: its name, its bits, its value.
    Wave(String, u32, Node),
}

impl Watch {
    fn nodes(&self) -> Vec<Node> {
        match self {
            Watch::Before(_, term)
            | Watch::Same(_, term)
            | Watch::Code(term)
            | Watch::Input(term)
            | Watch::Wave(_, _, term) => {
                vec![*term]
            }
            Watch::Read(_, address, content) => vec![*address, *content],
            Watch::After(_, mine, its) | Watch::Status(_, mine, its) => vec![*mine, *its],
            Watch::Cell(_, address, mine, its) => vec![*address, *mine, *its],
        }
    }
}

impl Query {
    fn new(script: Script, watched: Vec<Watch>) -> Query {
        let (supposed, nodes) = script.write();
        let mut text = format!("(set-option :produce-models true)\n(set-logic QF_UFBV)\n{supposed}(check-sat)\n");
        let graph = script.graph;
        let chosen: Vec<Node> = nodes.into_iter().filter(|node| graph.is_chosen(*node)).collect();
        if !watched.is_empty() && !chosen.is_empty() {
            let names: Vec<String> = chosen.iter().map(|node| graph.name(*node)).collect();
            text.push_str(&format!("(get-value ({}))\n", names.join(" ")));
        }
        Query { text, graph, chosen, watched }
    }

    /// Returns the script for a solver.
    pub fn script(&self) -> &str {
        &self.text
    }

    /// Reads what the solver found.
    ///
    /// # Errors
    /// If that is no answer: the solver's own words.
    pub fn read(&self, output: &str) -> Result<Answer, String> {
        answer::read(self, output)
    }
}
