//! The division unit by itself. No solver can cover all 32-bit operands, so the unit is proven at a width at which a
//! solver can: its text is the same at every width.

use lathe_hdl::DIVISION;
use lathe_isa::operators::BinaryOperator;

use crate::compare;
use crate::graph::Facts;
use crate::module::{Module, Moment};
use crate::script::{Condition, Script};
use crate::{Query, Watch};

/// The width at which the unit is proven.
pub const BITS: u32 = 8;

/// Returns the script that makes Yosys print what [`Module::read`] reads, and the name of the module.
pub fn yosys_script(module: &str, verilog: &str) -> (String, String) {
    let unit = format!("{module}{DIVISION}");
    let script = format!(
        "read_verilog <<END_OF_CORE\n{verilog}\nEND_OF_CORE\nchparam -set W {BITS} {unit}\nhierarchy -top {unit}\nproc\n\
         opt_clean -purge\nwrite_smt2 -wires /dev/stdout\n"
    );
    (script, unit)
}

/// Returns the query for a wrong unit: started in any state, it has a wrong answer while it is ready, or is not ready
/// after one clock cycle per bit and in the cycle after that.
pub fn division(unit: &Module) -> Query {
    let (mut script, mut facts) = (Script::default(), Facts::default());
    let given = ["x", "y"].map(|name| script.unknown(name, BITS));
    let parts = [("quotient", BinaryOperator::Divide), ("remainder", BinaryOperator::Remainder)];
    let mut now = Moment::new(unit, "start");
    now.give(&mut script.graph, "start", Condition::always().0);
    for (name, value) in ["x", "y"].into_iter().zip(given) {
        now.give(&mut script.graph, name, value.node);
    }
    let (mut same, mut told) = (Vec::new(), Vec::new());
    for cycle in 0..=BITS + 2 {
        let supposed = now.settle(&mut script.graph, &mut facts);
        supposed.into_iter().for_each(|condition| script.suppose(Condition(condition)));
        told.extend(now.waves());
        if cycle > 0 {
            let ready = Condition(now.signal(&mut script.graph, "ready", 1));
            for (name, operator) in parts {
                let wanted = script.binary(operator, &given[0], &given[1]);
                let found = now.signal(&mut script.graph, name, BITS);
                let is_right = Condition(script.graph.equal(wanted.node, found));
                same.push((format!("{name} in cycle {cycle}"), script.implies(&ready, &is_right)));
            }
            if cycle > BITS {
                same.push((format!("ready in cycle {cycle}"), ready));
            }
        }
        now = now.next(&mut script.graph, &format!("cycle {cycle}"), &mut facts);
        now.give(&mut script.graph, "start", Condition::never().0);
    }
    compare::refute(&mut script, &same);
    let before = ["x of the unit", "y of the unit"].into_iter().zip(given);
    let before = before.map(|(name, term)| Watch::Before(name.to_owned(), term.node));
    Query::new(script, before.chain(compare::held(same)).chain(told).collect())
}
