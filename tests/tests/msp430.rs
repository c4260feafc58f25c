//! The MSP430 against the simulator of mspdebug, which shares nothing with Lathe: single instructions in random states,
//! all in one script. `LATHE_STATES` and `LATHE_SEED` set how many and which.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_tests::emulator::{answer, registers, set_registers, setting};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Engine as _, Interpreter, State};

/// The bytes that are set before an instruction and compared after it. Pointers are well inside.
const CODE: Range<u64> = 0x4000..0x4010;
const DATA: Range<u64> = 0x0200..0x0240;
const POINTERS: Range<u64> = 0x0210..0x0230;

const NAMES: [&str; 16] =
    ["pc", "sp", "sr", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    registers: [u64; 16],
    code: Vec<u64>,
    data: Vec<u64>,
}

/// Returns an instruction word, with its source and destination: each a register and whether it is in memory.
fn instruction(random: &mut Random) -> (u64, Vec<(u64, u64)>) {
    // The program counter is never a pointer here, and the constant generator never one in a destination.
    let general = |random: &mut Random| random.within(4..16);
    let source = |random: &mut Random| match random.below(8) {
        0 => (*random.pick(&[0, 2]), *random.pick(&[0, 1])),
        1 => (*random.pick(&[2, 3]), random.within(2..4)),
        2 => (3, random.below(4)),
        3 => (0, 3),
        // Reading a byte at `@sp+` adds two to `sp`, as TI says, but one in the simulator.
        4 => (1, random.below(3)),
        _ => (general(random), random.below(4)),
    };
    let byte = random.below(2) << 6;
    match random.below(8) {
        0..5 => {
            let (from, how) = source(random);
            let (to, where_to) = match random.below(6) {
                0 => (*random.pick(&[0, 2]), 1),
                1 => (3, 0),
                _ => (general(random), random.below(2)),
            };
            let word = random.within(4..16) << 12 | from << 8 | where_to << 7 | byte | how << 4 | to;
            (word, vec![(from, how), (to, where_to)])
        }
        5 => {
            let (register, how) = (general(random), random.below(4));
            let operation = *random.pick(&[0, 2]) << 7 | byte;
            (0x1000 | operation | how << 4 | register, vec![(register, how)])
        }
        6 => {
            let (register, how) = if random.once_in(3) { (0, 3) } else { (general(random), random.below(4)) };
            let operation = if register == 0 { 4 } else { *random.pick(&[1, 3, 4, 5]) } << 7;
            (0x1000 | operation | how << 4 | register, vec![(register, how)])
        }
        _ => (0x2000 | random.below(0x2000), vec![]),
    }
}

/// Limits each digit of a number to 9: what `dadd` does with others is undefined.
fn decimal(number: u64) -> u64 {
    (0..16).map(|digit| (number >> (4 * digit) & 15).min(9) << (4 * digit)).sum()
}

impl Machine {
    fn random(random: &mut Random) -> Machine {
        let (mut word, operands) = instruction(random);
        let is_decimal = word >> 12 == 0xA;
        if is_decimal && word & 0x0F30 == 0x0330 {
            word ^= 0x10; // the constant 2 in place of -1
        }
        let is_word = word & 0x40 == 0 || word >> 13 == 1;
        let digits = |value: u64| if is_decimal { decimal(value) } else { value };
        let pointer = |random: &mut Random| digits(random.within(POINTERS)) & if is_word { !1 } else { !0 };
        let mut registers = [0; 16];
        for (at, register) in registers.iter_mut().enumerate() {
            let is_pointer = at == 1 || operands.iter().any(|(own, how)| *own == at as u64 && *how != 0);
            *register = if is_pointer { pointer(random) } else { digits(random.value(16)) };
        }
        // The processor is on, and the status bits other than flags are 0.
        (registers[0], registers[1]) = (CODE.start, registers[1] & !1);
        (registers[2], registers[3]) = (random.below(8) | random.below(2) << 8, 0);
        let mut code = vec![word & 0xFF, word >> 8];
        for (register, how) in &operands {
            let here = CODE.start + code.len() as u64;
            let extension = match (*register, *how) {
                (0, 1) => pointer(random).wrapping_sub(here) & 0xFFFF,
                (2, 1) => pointer(random),
                (0, 3) => digits(random.value(16)),
                (3, _) | (_, 0 | 2 | 3) => continue,
                _ => (random.below(8) * 2).wrapping_sub(8) & 0xFFFF,
            };
            code.extend([extension & 0xFF, extension >> 8]);
        }
        code.resize((CODE.end - CODE.start) as usize, 0);
        let data = DATA.map(|_| digits(random.value(8))).collect();
        Machine { registers, code, data }
    }

    /// Writes the commands that set the state, do one step and show it.
    fn script(&self, text: &mut String) {
        for (number, value) in self.registers.iter().enumerate() {
            let _ = writeln!(text, "set {number} {value:#x}");
        }
        for (start, bytes) in [(CODE.start, &self.code), (DATA.start, &self.data)] {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            let _ = writeln!(text, "mw {start:#x} {}", bytes.join(" "));
        }
        let size = |range: Range<u64>| range.end - range.start;
        let _ = writeln!(text, "step\nregs\nmd {:#x} {}", CODE.start, size(CODE));
        let _ = writeln!(text, "md {:#x} {}", DATA.start, size(DATA));
    }

    fn stepped(&self, isa: &Arc<Isa>) -> Machine {
        let mut state = State::new(isa);
        set_registers(isa, &mut state, &NAMES, &self.registers);
        let memory = state.memory_mut(isa.pc.memory);
        let cells = CODE.zip(&self.code).chain(DATA.zip(&self.data));
        cells.for_each(|(address, byte)| memory.set(address, *byte));
        Interpreter::new(isa).run(&mut state, &mut Devices::new(isa, Console::default()), 1);
        let memory = state.memory(isa.pc.memory);
        let bytes = |range: Range<u64>| range.map(|address| memory.get(address)).collect();
        let registers = registers(isa, &state, &NAMES).try_into().expect("one for each name");
        Machine { registers, code: bytes(CODE), data: bytes(DATA) }
    }
}

/// Reads the states that mspdebug shows. Registers are shown after every command that sets one,
/// `( PC: 0c000)  ( R4: 01234)` and so on; memory only at the end of a state, as `    0c000: 05 54 00 00 |.T..|`.
fn states(output: &str) -> Vec<Machine> {
    let mut states = Vec::new();
    let mut registers = [0; 16];
    let mut bytes = Vec::new();
    for line in output.lines() {
        for shown in line.split('(').filter_map(|part| part.split_once(')')) {
            let Some((name, value)) = shown.0.split_once(": ") else { continue };
            let at = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name.trim()));
            if let (Some(at), Ok(value)) = (at, u64::from_str_radix(value, 16)) {
                registers[at] = value;
            }
        }
        let Some((_, shown)) = line.split_once(": ").filter(|_| line.ends_with('|')) else { continue };
        let shown = shown.split('|').next().unwrap_or_default().split_whitespace();
        bytes.extend(shown.filter_map(|byte| u64::from_str_radix(byte, 16).ok()));
        let code = (CODE.end - CODE.start) as usize;
        if bytes.len() == code + (DATA.end - DATA.start) as usize {
            // It keeps what is written to the constant generator, but never reads it.
            registers[3] = 0;
            let data = bytes.split_off(code);
            states.push(Machine { registers, code: std::mem::take(&mut bytes), data });
        }
    }
    states
}

#[test]
fn every_mode_does_what_mspdebug_does() {
    let Some(mspdebug) = tools::find("the MSP430 against mspdebug", "mspdebug") else { return };
    let isa = lathe_isa::load(lathe_machines::find("msp430").expect("it ships").definition).isa;
    let isa = Arc::new(isa.expect("it is right"));
    let seed = setting("LATHE_SEED", 1);
    let mut random = Random(seed);
    let machines: Vec<Machine> = (0..setting("LATHE_STATES", 1_000)).map(|_| Machine::random(&mut random)).collect();
    let mut script = String::from("opt color false\n");
    machines.iter().for_each(|machine| machine.script(&mut script));
    script += "exit\n";
    let expected = states(&answer(&mspdebug, &["sim"], script));
    assert_eq!(expected.len(), machines.len(), "mspdebug shows everything; seed {seed}");
    for (machine, expected) in machines.iter().zip(expected) {
        let word = machine.code[0] | machine.code[1] << 8;
        assert_eq!(machine.stepped(&isa), expected, "{word:04X} in {machine:04X?}, seed {seed}");
    }
}
