//! Runs the examples of a definition.

use lathe_base::Diagnostic;
use lathe_isa::codes::EXAMPLE_FAILS;
use lathe_isa::encoding::cells;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, Example, Fact, FactKind, Isa, Status};

use crate::device::{Console, Devices, Keypad, Ports};
use crate::interpreter::{Step, Stepper};
use crate::state::State;

/// Runs every example, and returns a diagnostic for each fact that does not come out as written.
pub fn check(isa: &Isa) -> Vec<Diagnostic> {
    let mut state = State::new(isa);
    // Going back is quicker than making a new state, which has to clear large memories.
    let new = state.snapshot();
    let check_next = |example| {
        let found = check_one(isa, &mut state, example);
        state.restore(&new);
        found
    };
    isa.examples.iter().flat_map(check_next).collect()
}

/// Runs one example. The state must be new.
fn check_one(isa: &Isa, state: &mut State, example: &Example) -> Vec<Diagnostic> {
    let mut devices = Devices::new(isa, Console::default());
    let mut input = Vec::new();
    for fact in &example.before {
        match &fact.kind {
            FactKind::Device(id, arguments, value) => set_device(isa, &mut devices, *id, arguments, *value),
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
        let (memory, address) = state.code_cell(isa, state.pc.wrapping_add(offset));
        state.memory_mut(memory).set(address, value);
    }
    if let Some(console) = devices.find_console_mut() {
        *console = Console::with_input(input);
    }
    let step = Stepper::new(isa).step(isa, state, &mut devices);
    example.after.iter().filter_map(|fact| compare(isa, example, fact, state, &step, &mut devices)).collect()
}

/// Sets up a device before the instruction: a port that can be read, a key that is down, a timer that runs.
fn set_device(isa: &Isa, devices: &mut Devices, id: DeviceId, arguments: &[u64], value: u64) {
    match (isa.devices[id.index()].kind, arguments) {
        (DeviceKind::Keypad { .. }, [key]) => {
            if let Some(keypad) = devices.find_at_mut::<Keypad>(id) {
                keypad.set(*key as u32, value != 0);
            }
        }
        (DeviceKind::Bus { .. }, [port]) => {
            if let Some(ports) = devices.find_at_mut::<Ports>(id) {
                ports.set(*port, value);
            }
        }
        _ => devices.write(id, DeviceOperation::Write, &[value]),
    }
}

/// Returns what a device shows after the instruction: what was written to a port, whether a key is down, what a timer
/// shows.
fn shown_by_device(isa: &Isa, devices: &mut Devices, id: DeviceId, arguments: &[u64]) -> Option<u64> {
    match isa.devices[id.index()].kind {
        DeviceKind::Bus { .. } => devices.find_at::<Ports>(id)?.written(*arguments.first()?),
        DeviceKind::Keypad { .. } => devices.read(id, DeviceOperation::Down, arguments),
        _ => devices.read(id, DeviceOperation::Read, arguments),
    }
}

fn compare(
    isa: &Isa,
    example: &Example,
    fact: &Fact,
    state: &State,
    step: &Step,
    devices: &mut Devices,
) -> Option<Diagnostic> {
    let (wanted, found) = match &fact.kind {
        FactKind::Device(id, arguments, value) => {
            let shown = shown_by_device(isa, devices, *id, arguments);
            (hex(*value), shown.map_or_else(|| "nothing".to_owned(), hex))
        }
        FactKind::Pc(pc) => (hex(*pc), hex(state.pc)),
        FactKind::Place(place, value) => (hex(*value), hex(state.place(place))),
        FactKind::Cell(memory, address, value) => (hex(*value), hex(state.memory(*memory).get(*address))),
        FactKind::Output(bytes) => {
            let output = devices.find_console().map_or(&[][..], Console::output);
            (format!("{bytes:?}"), format!("{output:?}"))
        }
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

#[cfg(test)]
mod tests {
    /// Each begins with a new machine, whatever the one before it left in registers and in memories of either size.
    #[test]
    fn examples_know_nothing_of_one_another() {
        for address in ["u8", "u32"] {
            let definition = format!(
                "machine m \"M\"\nmemory ram : {address} -> u8\npc pc : {address} in ram\nregister a : u8 = 3\n\
                 instructions {{\n  put  | 0x01 | a = 7; ram[0x40] = 9\n  look | 0x02 | a = a + ram[0x40]\n}}\n\
                 examples {{\n  look : -> a = 3\n  put : -> a = 7, ram[0x40] = 9\n  look : -> a = 3\n}}\n"
            );
            let isa = lathe_isa::load(&definition).isa.unwrap_or_else(|| panic!("{definition}"));
            assert_eq!(isa.examples.len(), 3);
            assert_eq!(super::check(&isa), Vec::new());
        }
    }
}
