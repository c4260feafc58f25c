//! The PDP-11 against SIMH, an emulator that shares nothing with Lathe: single instructions in random states, all in
//! one script. `LATHE_STATES` and `LATHE_SEED` set how many and which.

use std::fmt::Write as _;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_tests::emulator::{answer, registers, set_registers, setting, simh_values};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Engine as _, Interpreter, State};

const CODE: u64 = 0o1000;
/// The words that are set before an instruction and compared after it. Pointers are well inside.
const DATA: std::ops::Range<u64> = 0o2000..0o2200;
const POINTERS: std::ops::Range<u64> = 0o2040..0o2140;

/// Registers 0 to 5, `sp`, `pc`, the status; the words of the instruction; those of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    registers: [u64; 9],
    code: Vec<u64>,
    data: Vec<u64>,
}

/// An operand: its mode and register.
type Specifier = u64;

/// Returns an instruction word, and its operands.
fn instruction(random: &mut Random) -> (u64, Vec<Specifier>) {
    // Modes 4 and 5 of the program counter read the instruction itself.
    let operand = |random: &mut Random| loop {
        let specifier = random.below(64);
        if !matches!(specifier, 0o47 | 0o57) {
            return specifier;
        }
    };
    let (one, two) = (operand(random), operand(random));
    // Jumps to registers are traps, which SIMH takes in the next step.
    let memory = if one < 8 { one | 0o10 } else { one };
    let byte = random.below(2) << 15;
    match random.below(16) {
        0..7 => (random.within(1..6) << 12 | byte | one << 6 | two, vec![one, two]),
        7 => (0o060000 | byte | one << 6 | two, vec![one, two]),
        8..11 => (byte | random.within(0o50..0o64) << 6 | one, vec![one]),
        11 => (*random.pick(&[0o000300, 0o006700, 0o106400, 0o106700]) | one, vec![one]),
        12 => (0o074000 | random.below(8) << 6 | one, vec![one]),
        13 => (*random.pick(&[0o000100, 0o004000, 0o004700, 0o004200]) | memory, vec![memory]),
        14 => (
            *random.pick(&[1, 2, 3, 4, 5, 6, 7, 128, 129, 130, 131, 132, 133, 134, 135]) << 8 | random.below(256),
            vec![],
        ),
        _ => (*random.pick(&[0o000200, 0o000207, 0o006402, 0o077003, 0o077603, 0o000240, 0o000277, 0o000253]), vec![]),
    }
}

fn before(random: &mut Random) -> Machine {
    let (word, operands) = instruction(random);
    let jumps = word & 0o177700 == 0o100 || word & 0o177000 == 0o4000;
    let pointer = |random: &mut Random| random.within(POINTERS) & if jumps { !1 } else { !0 };
    let mut registers = [0; 9];
    for (at, register) in registers.iter_mut().enumerate() {
        let is_pointer = at == 6 || operands.iter().any(|one| one >> 3 != 0 && one & 7 == at as u64);
        *register = if is_pointer { pointer(random) } else { random.value(16) };
    }
    (registers[7], registers[8]) = (CODE, random.below(16) | random.below(8) << 5);
    let mut code = vec![word];
    for one in &operands {
        let next = CODE + 2 * (code.len() as u64 + 1);
        match one {
            0o27 => code.push(random.value(16)),
            0o37 => code.push(pointer(random)),
            0o67 | 0o77 => code.push(pointer(random).wrapping_sub(next) & 0xFFFF),
            0o60..0o100 => code.push((random.below(16) * 2).wrapping_sub(16) & 0xFFFF),
            _ => {}
        }
    }
    code.resize(4, 0o240);
    let goes_through_memory = operands.iter().any(|one| matches!(one >> 3, 3 | 5 | 7));
    let value = |random: &mut Random| if goes_through_memory || jumps { pointer(random) } else { random.value(16) };
    let data = DATA.step_by(2).map(|_| value(random)).collect();
    Machine { registers, code, data }
}

const NAMES: [&str; 9] = ["r0", "r1", "r2", "r3", "r4", "r5", "sp", "pc", "psw"];

impl Machine {
    /// Writes the commands that set the state, do one step and show it.
    fn script(&self, text: &mut String) {
        for (name, value) in NAMES.iter().zip(self.registers) {
            let _ = writeln!(text, "d {name} {value:o}");
        }
        let words = (CODE..).step_by(2).zip(&self.code).chain(DATA.step_by(2).zip(&self.data));
        for (address, value) in words {
            let _ = writeln!(text, "d {address:o} {value:o}");
        }
        let (last, end) = (CODE + 6, DATA.end - 2);
        let _ = writeln!(text, "step\ne {}\ne {CODE:o}-{last:o}\ne {:o}-{end:o}", NAMES.join(","), DATA.start);
    }

    /// Reads a list of values, in the order of the script.
    fn shown(values: &[u64]) -> Machine {
        let mut registers = [0; 9];
        registers.copy_from_slice(&values[..9]);
        registers[8] &= 0xFF;
        Machine { registers, code: values[9..13].to_vec(), data: values[13..].to_vec() }
    }

    fn stepped(&self, isa: &Arc<Isa>) -> Machine {
        let mut state = State::new(isa);
        set_registers(isa, &mut state, &NAMES, &self.registers);
        let memory = state.memory_mut(isa.pc.memory);
        for (start, words) in [(CODE, &self.code), (DATA.start, &self.data)] {
            for (address, word) in (start..).step_by(2).zip(words) {
                memory.set(address, word & 0xFF);
                memory.set(address + 1, word >> 8);
            }
        }
        Interpreter::new(isa).run(&mut state, &mut Devices::new(isa, Console::default()), 1);
        let mut values = registers(isa, &state, &NAMES);
        let memory = state.memory(isa.pc.memory);
        let word = |address| memory.get(address) | memory.get(address + 1) << 8;
        values.extend((CODE..CODE + 8).step_by(2).chain(DATA.step_by(2)).map(word));
        Machine::shown(&values)
    }
}

#[test]
fn every_mode_does_what_simh_does() {
    let Some(simh) = tools::find("the PDP-11 against SIMH", "pdp11") else { return };
    let isa = lathe_isa::load(lathe_machines::find("pdp11").expect("it ships").definition).isa;
    let isa = Arc::new(isa.expect("it is right"));
    let seed = setting("LATHE_SEED", 1);
    let mut random = Random(seed);
    let machines: Vec<Machine> = (0..setting("LATHE_STATES", 2_000)).map(|_| before(&mut random)).collect();
    let mut script = String::from("set cpu 11/03\n");
    machines.iter().for_each(|machine| machine.script(&mut script));
    script += "quit\n";
    let values = simh_values(&answer(&simh, &[], script));
    let each = 13 + DATA.step_by(2).count();
    assert_eq!(values.len(), machines.len() * each, "SIMH shows everything; seed {seed}");
    for (machine, values) in machines.iter().zip(values.chunks(each)) {
        let (found, expected) = (machine.stepped(&isa), Machine::shown(values));
        assert_eq!(found, expected, "{:o} in {machine:?}, seed {seed}", machine.code[0]);
    }
}
