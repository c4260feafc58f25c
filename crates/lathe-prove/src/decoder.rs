//! The decoder of a core by itself. Slices of a core decode only their own row, so it has to be proven of the core that
//! it takes bits for the row that has them.

use std::cmp::Reverse;

use lathe_hdl::{DECODER, Interface};
use lathe_isa::Isa;
use lathe_isa::model::InstructionId;

use crate::compare::{self, Same};
use crate::graph::Facts;
use crate::meaning::{self, Row};
use crate::module::{Module, Moment};
use crate::script::{Condition, Script, Term};
use crate::{Query, Watch};

/// How many bits are split into all their values. Each value rules out most rows, so a solver need not search the rest.
const TAKEN_APART: usize = 7;

/// Returns the script that makes Yosys print what [`Module::read`] reads of [`DECODER`]. It skips the search for rows
/// that are never reached, which would take Yosys longer than anything else.
pub fn yosys_script(verilog: &str) -> String {
    format!(
        "read_verilog <<END_OF_DECODER\n{verilog}\nEND_OF_DECODER\nhierarchy -top {DECODER}\nproc_clean\nproc_prune\n\
         proc_mux\nproc_dlatch\nproc_clean\nopt_clean -purge\nwrite_smt2 -wires /dev/stdout\n"
    )
}

/// Returns the query for bits that are taken for another row than the definition says, or for a row although none has
/// them.
pub fn decoding(isa: &Isa, interface: &Interface, decoder: &Module) -> Query {
    let mut script = Script::default();
    let cell = isa.code_memory().cell.bits();
    let cells: Vec<Term> = (0..isa.longest()).map(|at| script.unknown(&format!("cell {at}"), cell)).collect();
    let window = script.join_all(&cells);
    let bits: Vec<Term> = (0..window.bits).rev().map(|low| script.slice(&window, low, 1)).collect();
    let ids = (0..isa.instructions.len() as u32).map(InstructionId);
    let rows: Vec<Row> = std::iter::once(Row::Undefined).chain(ids.map(Row::Instruction)).collect();
    let mut same: Vec<Same> = rows.iter().map(|row| (name(isa, *row), Condition::always())).collect();
    let apart = telling(isa, window.bits);
    for value in 0..1_u64 << apart.len() {
        let (mut known, mut here) = (bits.clone(), Condition::always());
        for (at, place) in apart.iter().enumerate() {
            known[*place] = script.constant(1, value >> at & 1);
            let one = script.equal(&bits[*place], &known[*place]);
            here = script.and(&here, &one);
        }
        let cells: Vec<Term> = known.chunks(cell as usize).map(|bits| script.join_all(bits)).collect();
        for (taken, (_, holds)) in
            decoded(isa, (interface, decoder), &mut script, &cells, &rows).into_iter().zip(&mut same)
        {
            let taken = script.implies(&here, &taken);
            *holds = script.and(holds, &taken);
        }
    }
    compare::refute(&mut script, &same);
    let code = cells.iter().map(|cell| Watch::Code(cell.node));
    Query::new(script, code.chain(compare::held(same)).collect())
}

/// Returns what to report where a row is decoded wrongly.
fn name(isa: &Isa, row: Row) -> String {
    match row {
        Row::Undefined => "what bits that no row has are decoded as".to_owned(),
        Row::Instruction(id) => format!("what `{}` is decoded as", isa.instruction(id).syntax.mnemonic()),
    }
}

/// Returns the bits of the window that most rows depend on, counted from the highest.
fn telling(isa: &Isa, window: u32) -> Vec<usize> {
    let looks = |place: &usize| {
        let bit = 1_u128 << (127 - place);
        isa.instructions.iter().filter(|row| row.encoding.fixed.mask & bit != 0).count()
    };
    let mut places: Vec<usize> = (0..window as usize).collect();
    places.sort_by_key(|place| Reverse(looks(place)));
    places.truncate(TAKEN_APART);
    places
}

/// Returns, for each row, the condition that it is decoded correctly if it stands in these cells.
fn decoded(
    isa: &Isa,
    (interface, decoder): (&Interface, &Module),
    script: &mut Script,
    cells: &[Term],
    rows: &[Row],
) -> Vec<Condition> {
    let mut now = Moment::new(decoder, "now");
    let window = script.join_all(cells);
    now.give(&mut script.graph, "window", window.node);
    let supposed = script.settle(&mut now, &mut Facts::default());
    let found = script.look(&now, "instruction", interface.number_bits);
    let mut all = Vec::new();
    for (number, row) in std::iter::once(&0).chain(&interface.numbers).zip(rows) {
        let stands = meaning::stands(isa, script, (cells, &[]), *row);
        let stands = script.and(&stands, &supposed);
        let number = script.constant(found.bits, *number);
        let taken = script.equal(&found, &number);
        all.push(script.implies(&stands, &taken));
    }
    all
}
