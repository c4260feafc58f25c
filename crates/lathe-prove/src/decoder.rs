//! What decodes in a core, by itself: slices of a core have only the decoding of their own row, so that it has to be proven of the
//! core that it takes bits for the row that has them.

use lathe_hdl::DECODER;
use lathe_isa::Isa;
use lathe_isa::model::InstructionId;

use crate::compare;
use crate::graph::Facts;
use crate::meaning::{self, Row};
use crate::module::{Module, Moment, yosys_script};
use crate::script::{Script, Term};
use crate::{Query, Watch};

/// What Yosys is told, so that it prints what [`Module::read`] reads of [`DECODER`].
pub fn yosys(verilog: &str) -> String {
    yosys_script(DECODER, verilog)
}

/// The question whether bits are taken for another row than the definition says, or for one although no row has them.
pub fn decoding(isa: &Isa, decoder: &Module) -> Query {
    let (mut script, mut facts) = (Script::default(), Facts::default());
    let cell = isa.code_memory().cell.bits();
    let window: Vec<Term> = (0..isa.longest()).map(|at| script.unknown(&format!("cell {at}"), cell)).collect();
    let mut now = Moment::new(decoder, "now");
    let bits = script.join_all(&window);
    now.give(&mut script.graph, "window", bits.node);
    let supposed = script.settle(&mut now, &mut facts);
    script.suppose(supposed);
    let count = isa.instructions.len();
    let found = script.look(&now, "instruction", lathe_base::Width::to_tell_apart(count + 1).bits());
    let ids = (0..count as u32).map(InstructionId);
    let mut same = Vec::new();
    for (number, row) in (0..).zip(std::iter::once(Row::Undefined).chain(ids.map(Row::Instruction))) {
        let stands = meaning::stands(isa, &mut script, (&window, &[]), row);
        let number = script.constant(found.bits, number);
        let taken = script.equal(&found, &number);
        let name = match row {
            Row::Undefined => "bits that no row has".to_owned(),
            Row::Instruction(id) => format!("what is decoded as `{}`", isa.instruction(id).syntax.mnemonic()),
        };
        same.push((name, script.implies(&stands, &taken)));
    }
    compare::refute(&mut script, &same);
    let code = window.iter().map(|cell| Watch::Code(cell.node));
    Query::new(script, code.chain(compare::held(same)).collect())
}
