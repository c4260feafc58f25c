//! Runs the examples of a definition.

use lathe_base::Diagnostic;
use lathe_isa::codes::EXAMPLE_FAILS;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Example, Fact, FactKind, Isa, Status};

use crate::device::{Console, Devices};
use crate::interpreter::{Step, Stepper};
use crate::state::State;

/// Runs every example; a diagnostic for each fact that does not come out as written.
pub fn check(isa: &Isa) -> Vec<Diagnostic> {
    isa.examples.iter().flat_map(|example| check_one(isa, example)).collect()
}

fn check_one(isa: &Isa, example: &Example) -> Vec<Diagnostic> {
    let mut state = State::new(isa);
    let mut input = Vec::new();
    for fact in &example.before {
        match &fact.kind {
            FactKind::Pc(pc) => state.pc = *pc,
            FactKind::Place(place, value) => state.set_place(isa, place, *value),
            FactKind::Cell(memory, address, value) => state.memory_mut(*memory).set(*address, *value),
            FactKind::Input(bytes) => input.extend_from_slice(bytes),
            FactKind::Output(_) | FactKind::Status(_) => {
                let message = "this cannot be given before an instruction";
                return vec![Diagnostic::new(EXAMPLE_FAILS, fact.span, message).help("move it after `->`")];
            }
        }
    }
    let encoding = &isa.instruction(example.instruction).encoding;
    let window = encoding.encode(&example.operands);
    for (value, offset) in cells(window, isa.code_memory().cell).take(encoding.cells as usize).zip(0..) {
        let address = state.pc.wrapping_add(offset);
        state.memory_mut(isa.pc.memory).set(address, value);
    }
    let mut devices = Devices::new(isa, Console::with_input(input));
    let step = Stepper::new(isa).step(isa, &mut state, &mut devices);
    let output = devices.find_console().map_or(&[][..], Console::output);
    example.after.iter().filter_map(|fact| compare(isa, example, fact, &state, &step, output)).collect()
}

fn compare(isa: &Isa, example: &Example, fact: &Fact, state: &State, step: &Step, output: &[u8]) -> Option<Diagnostic> {
    let (wanted, found) = match &fact.kind {
        FactKind::Pc(pc) => (hex(*pc), hex(state.pc)),
        FactKind::Place(place, value) => (hex(*value), hex(state.place(place))),
        FactKind::Cell(memory, address, value) => (hex(*value), hex(state.memory(*memory).get(*address))),
        FactKind::Output(bytes) => (format!("{bytes:?}"), format!("{output:?}")),
        FactKind::Status(status) => (word(*status).to_owned(), word(step.status()).to_owned()),
        FactKind::Input(_) => {
            let message = "input is given before an instruction";
            return Some(Diagnostic::new(EXAMPLE_FAILS, fact.span, message).help("move it before `->`"));
        }
    };
    (wanted != found).then(|| {
        let row = isa.instruction(example.instruction).span;
        let message = format!("`{}` gives {found} here, not {wanted}", example.source);
        let diagnostic = Diagnostic::new(EXAMPLE_FAILS, fact.span, message).also(row, "the row that was executed");
        diagnostic.help("correct the example, or the meaning of the row")
    })
}

fn hex(value: u64) -> String {
    format!("0x{value:X}")
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Halted => "halted",
        Status::Fault => "fault",
    }
}
