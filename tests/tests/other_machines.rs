//! Machines that nobody planned, written from the language reference: they load without a diagnostic, their examples
//! pass, and programs run on them. Together with the machines that ship they use everything in the language.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId};
use lathe_vm::{Console, Device, Devices, Engine as _, Fault, FaultCause, Interpreter, Run, State, Stop};

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("machines").join(format!("{name}.isa"));
    fs::read_to_string(path).expect("the definition is there")
}

fn load(name: &str) -> Arc<Isa> {
    let loaded = lathe_isa::load(&text(name));
    let found = loaded.diagnostics.into_sorted();
    assert!(found.is_empty(), "{name}: {found:#?}");
    let isa = Arc::new(loaded.isa.expect("nothing is wrong with it"));
    let failed = lathe_vm::examples::check(&isa);
    assert!(failed.is_empty(), "{name}: {failed:#?}");
    isa
}

/// Returns the cells of a program: each line is a mnemonic and the bits of its operands.
fn program(isa: &Isa, lines: &[(&str, &[u64])]) -> Vec<u64> {
    let mut all = Vec::new();
    for (mnemonic, operands) in lines {
        let instruction = isa.instructions.iter().find(|i| i.syntax.mnemonic() == *mnemonic).expect("a row");
        let window = instruction.encoding.encode(operands);
        all.extend(cells(window, isa.code_memory().cell).take(instruction.encoding.cells as usize));
    }
    all
}

fn run(isa: &Arc<Isa>, lines: &[(&str, &[u64])], devices: &mut Devices) -> (Run, State) {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(program(isa, lines));
    let run = Interpreter::new(isa).run(&mut state, devices, 10_000);
    (run, state)
}

#[test]
fn acc12_counts_down() {
    let isa = load("acc12");
    let mut devices = Devices::new(&isa, Console::default());
    let (always_not_zero, first) = (7, 1);
    let lines: [(&str, &[u64]); 6] = [
        ("ldi", &[9]),
        ("digit", &[]),
        ("addi", &[15]),
        ("jump", &[always_not_zero, first]),
        ("digit", &[]),
        ("stop", &[]),
    ];
    let (run, state) = self::run(&isa, &lines, &mut devices);
    assert_eq!(run.stop, Stop::Halted);
    assert_eq!(devices.console().output(), b"9876543210");
    assert_eq!((run.steps, state.pc), (1 + 9 * 3 + 2, 6));
    // ldi 1, ten digits of 4, nine additions of 1, nine jumps of 1 and eight of them taken, stop 1.
    assert_eq!(run.cycles, 1 + 10 * 4 + 9 + 9 + 8 + 1);
}

/// A panel of switches and lamps, attached to the bus.
#[derive(Clone, Default)]
struct Panel {
    lamps: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Device for Panel {
    type Saved = Vec<(u64, u64)>;

    fn read(&mut self, _operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        // More bits than a value of the bus has; the excess must not show.
        Some(0xFF0 + arguments[0] * 2)
    }

    fn write(&mut self, _operation: DeviceOperation, arguments: &[u64]) {
        self.lamps.lock().expect("one thread").push((arguments[0], arguments[1]));
    }

    fn save(&mut self) -> Self::Saved {
        self.lamps.lock().expect("one thread").clone()
    }

    fn restore(&mut self, saved: &Self::Saved) {
        self.lamps.lock().expect("one thread").clone_from(saved);
    }
}

#[test]
fn acc12_reaches_a_board() {
    let isa = load("acc12");
    let mut devices = Devices::new(&isa, Console::default());
    let panel = Panel::default();
    devices.attach(DeviceId(1), panel.clone());
    let lines: [(&str, &[u64]); 5] = [("in", &[5]), ("addi", &[15]), ("out", &[2]), ("st", &[40]), ("stop", &[])];
    let (run, state) = self::run(&isa, &lines, &mut devices);
    assert_eq!(run.stop, Stop::Halted);
    assert_eq!(state.memory(MemoryId(1)).nonzero(), [(40, 9)]);
    assert_eq!(*panel.lamps.lock().expect("one thread"), [(2, 9)]);
}

/// Codes of an enumeration that have no name are no instruction.
#[test]
fn acc12_does_not_know_every_condition() {
    let isa = load("acc12");
    let mut state = State::new(&isa);
    state.memory_mut(isa.pc.memory).set(0, 0b0101_1000_0000);
    let run = Interpreter::new(&isa).run(&mut state, &mut Devices::new(&isa, Console::default()), 10);
    assert_eq!(run.stop, Stop::Fault(Fault { pc: 0, cause: FaultCause::Undefined }));
}

#[test]
fn word32_echoes_until_the_input_ends() {
    let isa = load("word32");
    let mut devices = Devices::new(&isa, Console::with_input(*b"lathe"));
    let lines: [(&str, &[u64]); 8] = [
        // x1 = 0xFFFFFF00, the console
        ("addi", &[1, 0, 0xF00]),
        ("lb", &[2, 1, 1]),
        // to the end when nothing is left
        ("beq", &[2, 0, 20]),
        ("lb", &[2, 0, 1]),
        ("sb", &[2, 0, 1]),
        ("addi", &[3, 3, 1]),
        ("jal", &[0, (-20i64 as u64) & 0x1FFF]),
        ("halt", &[]),
    ];
    let (run, state) = self::run(&isa, &lines, &mut devices);
    assert_eq!(run.stop, Stop::Halted);
    assert_eq!(devices.console().output(), b"lathe");
    assert_eq!(state.place(&isa.place_named("x3").expect("a register")), 5);
}

#[test]
fn tape16_loops_and_tells_what_it_does_not_know() {
    let isa = load("tape16");
    let mut devices = Devices::new(&isa, Console::default());
    let lines: [(&str, &[u64]); 4] = [("byte", &[3, 0]), ("push", &[7]), ("loop", &[1]), ("skip", &[])];
    let mut state = State::new(&isa);
    state.memory_mut(isa.pc.memory).fill(program(&isa, &lines).into_iter().chain([0x9999]));
    let run = Interpreter::new(&isa).run(&mut state, &mut devices, 1_000);
    let cause = FaultCause::Declared("unknown word".into(), Some(0x9999));
    assert_eq!(run.stop, Stop::Fault(Fault { pc: 4, cause }));
    assert_eq!(state.place(&isa.place_named("top").expect("a register")), 0x7777);
}

/// Every word and form of the language is used by a machine that ships or by one of these.
#[test]
fn everything_is_used_somewhere() {
    let mut all: String = lathe_machines::ALL.iter().map(|machine| machine.definition).collect();
    all.extend(["acc12", "word32", "tape16"].map(text));
    #[rustfmt::skip]
    let forms = [
        "machine ", "memory ", "pc ", "register ", "constant ", "view ", "field ", "device ", "map ", "trap ",
        "fn ", "family ", "on illegal", "instructions {", "pseudo {", "examples {", "## ",
        "instructions as u32 little", "instructions with cycles", "cycles + ", " where ", "----",
        "u8 little", "u8 big", " little address", " low", " align 2", "address in data", " from next", " from pc",
        " address from pc", " back from ", " within next", "enum {", " = 7 }", ", _,", "..r", "r10..r1",
        " clearing", "= r1 ++ r0", " : stream", " : bus u3 -> u4", ".read()", ".ready()", ".write(", "| ram[address]",
        "u16 = 0", "rs = 0xFFE0", "let ", "if ", "else", "for v in", "for i, r in", "? ", "[7:4]", " ++ ",
        "signed(", "zext(", "sext(", "s32(", "u(2 * K)", "rotl(", "rotr(", " << ", " >> ", " / ", " % ", "~", "-v",
        "&&", "||", "!zero", ".u16[", ".u32[", "ram.uK[", "skip }", "| halt", "fault \"", "next", ":hex2}", ":dec}",
        "jez/jeq", "{OP}imm", "N:u8 low", "=> sli", "N[7:4]", "input 65", "output 65", "halted", "-> fault", "{J[10:5]}",
        "zero ++ overflow ++ sign ++ carry = ", "(x: uK, y: uK) -> uK", "xch 7  =", "11II DDII", "0x41 ",
    ];
    let missing: Vec<&str> = forms.into_iter().filter(|form| !all.contains(form)).collect();
    assert!(missing.is_empty(), "nothing uses {missing:?}");
}
