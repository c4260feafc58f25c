//! The PDP-8 against SIMH, an emulator that shares nothing with Lathe: single instructions in random states, all in one
//! script. `LATHE_STATES` and `LATHE_SEED` set how many and which.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_tests::emulator::{answer, setting, simh_values};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Engine as _, Interpreter, State};

/// The words that are set before an instruction and compared after it: in page 0, in the page of the instruction, and
/// in another one. Pointers are inside.
const WORDS: [Range<u64>; 3] = [0..0o40, 0o200..0o240, 0o400..0o440];
/// The registers other than the program counter.
const NAMES: [&str; 4] = ["ac", "l", "mq", "sr"];

fn addresses() -> impl Iterator<Item = u64> {
    WORDS.into_iter().flatten()
}

/// The program counter, the registers, the words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    pc: u64,
    registers: [u64; 4],
    words: Vec<u64>,
}

fn instruction(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => {
            let turns = *random.pick(&[0, 0o2, 0o4, 0o6, 0o10, 0o12]);
            0o7000 | random.below(256) & !0o16 | turns
        }
        1 => 0o7400 | random.below(256) & !0o3,
        2 if random.once_in(4) => 0o7401 | random.below(256) & 0o320,
        _ => random.below(6) << 9 | random.below(4) << 7 | random.below(0o37),
    }
}

impl Machine {
    fn random(random: &mut Random) -> Machine {
        let word = instruction(random);
        let is_indirect = word < 0o6000 && word & 0o400 != 0;
        let value = |random: &mut Random| match is_indirect {
            true => random.pick(&WORDS).start + random.below(0o37),
            false => random.value(12),
        };
        let pc = 0o200 + random.below(0o36);
        let word_at = |address| if address == pc { word } else { value(random) };
        let words = addresses().map(word_at).collect();
        let registers = [random.value(12), random.below(2), random.value(12), random.value(12)];
        Machine { pc, registers, words }
    }

    /// Writes the commands that set the state, do one step and show it.
    fn script(&self, text: &mut String) {
        let _ = writeln!(text, "d pc {:o}", self.pc);
        for (name, value) in NAMES.iter().zip(self.registers) {
            let _ = writeln!(text, "d {name} {value:o}");
        }
        for (address, value) in addresses().zip(&self.words) {
            let _ = writeln!(text, "d {address:o} {value:o}");
        }
        let _ = writeln!(text, "step\ne pc,{}", NAMES.join(","));
        for Range { start, end } in WORDS {
            let _ = writeln!(text, "e {start:o}-{:o}", end - 1);
        }
    }

    /// Reads a list of values, in the order of the script.
    fn shown(values: &[u64]) -> Machine {
        let mut registers = [0; 4];
        registers.copy_from_slice(&values[1..5]);
        Machine { pc: values[0], registers, words: values[5..].to_vec() }
    }

    fn stepped(&self, isa: &Arc<Isa>) -> Machine {
        let mut state = State::new(isa);
        let places = NAMES.map(|name| isa.place_named(name).expect("it is a register"));
        for (place, value) in places.iter().zip(self.registers) {
            state.set_place(isa, place, value);
        }
        state.pc = self.pc;
        let memory = state.memory_mut(isa.pc.memory);
        addresses().zip(&self.words).for_each(|(address, word)| memory.set(address, *word));
        Interpreter::new(isa).run(&mut state, &mut Devices::new(isa, Console::default()), 1);
        let memory = state.memory(isa.pc.memory);
        let words = addresses().map(|address| memory.get(address)).collect();
        Machine { pc: state.pc, registers: places.map(|place| state.place(&place)), words }
    }
}

#[test]
fn every_word_does_what_simh_does() {
    let Some(simh) = tools::find("the PDP-8 against SIMH", "pdp8") else { return };
    let isa = lathe_isa::load(lathe_machines::find("pdp8").expect("it ships").definition).isa;
    let isa = Arc::new(isa.expect("it is right"));
    let seed = setting("LATHE_SEED", 1);
    let mut random = Random(seed);
    let machines: Vec<Machine> = (0..setting("LATHE_STATES", 2_000)).map(|_| Machine::random(&mut random)).collect();
    let mut script = String::from("set cpu noeae\n");
    machines.iter().for_each(|machine| machine.script(&mut script));
    script += "quit\n";
    let values = simh_values(&answer(&simh, &[], script));
    let each = 1 + NAMES.len() + addresses().count();
    assert_eq!(values.len(), machines.len() * each, "SIMH shows everything; seed {seed}");
    for (machine, values) in machines.iter().zip(values.chunks(each)) {
        let word = machine.words[addresses().position(|address| address == machine.pc).expect("it is inside")];
        assert_eq!(machine.stepped(&isa), Machine::shown(values), "{word:o} in {machine:?}, seed {seed}");
    }
}
