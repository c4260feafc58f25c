//! Machines against emulators that others wrote: one instruction at a time from random states, comparing all registers,
//! flags, cells and cycles. And their encodings against another assembler.
//!
//! `LATHE_STATES` sets how many states each machine gets (20,000 if not set), `LATHE_SEED` where they start.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lathe_asm::disassembler;
use lathe_isa::Isa;
use lathe_isa::encoding::window;
use lathe_isa::model::{FieldId, MemoryId};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Interpreter, State, StateSnapshot};

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn machine(name: &str) -> Arc<Isa> {
    let machine = lathe_machines::find(name).expect("the machine ships");
    Arc::new(lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right"))
}

/// Returns a folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Returns a program's answer to a text.
fn ask(command: &mut Command, input: String) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it has an input");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads everything");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn register(isa: &Isa, state: &State, name: &str) -> u64 {
    state.place(&isa.place_named(name).expect("there is such a register"))
}

fn set_register(isa: &Isa, state: &mut State, name: &str, value: u64) {
    state.set_place(isa, &isa.place_named(name).expect("there is such a register"), value);
}

mod avr {
    use super::*;

    const FLASH: MemoryId = MemoryId(0);
    const DATA: MemoryId = MemoryId(1);

    /// Returns the contents of memories before an instruction; tests/emulators/avr.c does the same.
    fn filled(seed: u64, at: u64) -> u64 {
        (at.wrapping_mul(0x9E37).wrapping_add(seed.wrapping_mul(0x6A09)) >> 3) & 0xFFFF
    }

    fn is_plain(at: u64) -> bool {
        (0x31..=0x33).contains(&at) || (0x60..=0x25F).contains(&at)
    }

    /// A state before an instruction, without the memories.
    #[derive(Debug)]
    struct Case {
        pc: u64,
        sp: u64,
        status: u64,
        seed: u64,
        words: [u64; 2],
        registers: [u64; 32],
    }

    impl Case {
        /// Returns a state for this instruction, if there is one in which a chip's behaviour is defined.
        fn new(isa: &Isa, random: &mut Random) -> Option<Case> {
            let mut words = [random.below(0x10000), random.below(0x10000)];
            if random.once_in(4) {
                // cpse of a register with itself
                let register = random.below(32);
                words[0] = 0x1000 | ((register & 16) << 5) | (register << 4) | (register & 15);
            }
            // The skipped word should be an instruction; and simavr takes some of adiw and sbiw for two-word
            // instructions.
            let next = isa.decode(window([words[1]], isa.code_memory().cell));
            if random.once_in(2) || next.is_none() || words[1] & 0xFE0C == 0x960C {
                words[1] = 0x9000 | random.below(0x400) & !0xF; // lds or sts, to be skipped
            }
            let decoded = isa.decode(window(words, isa.code_memory().cell))?;
            let name = isa.instruction(decoded.instruction).syntax.mnemonic();
            let mut registers = [0; 32].map(|_: u64| random.value(8));
            for pointer in [26, 28, 30] {
                // A distance from one of the registers would reach ports, which are devices here and others there; and
                // simavr writes a pointer back after it has written through it, even to itself.
                let place = if random.once_in(8) && !matches!(name, "ldd" | "std") {
                    random.within(1..25)
                } else {
                    random.within(0x61..0x220)
                };
                (registers[pointer], registers[pointer + 1]) = (place & 0xFF, place >> 8);
            }
            match name {
                "sleep" | "wdr" | "break" | "spm" => return None,
                "lpm" => registers[31] &= 0x1F,
                "lds" | "sts" => words[1] = *random.pick(&[3, 17, 0x5D, 0x5E, 0x5F, 0x60, 0x123, 0x25F]),
                "in" | "out" => words[0] = words[0] & !0x60F | *random.pick(&[0x201, 0x203, 0x60D, 0x60E, 0x60F]),
                "cbi" | "sbi" | "sbic" | "sbis" => words[0] = words[0] & !0xF8 | (0x11 + random.below(3)) << 3,
                _ => {}
            }
            // Changing a pointer and using it at the same time is undefined.
            if matches!(name, "ld" | "st" | "lpm") && decoded.operands[0] >= 26 {
                return None;
            }
            let (pc, sp) = (random.below(0xFF0), random.within(0x70..0x250));
            Some(Case { pc, sp, status: random.below(256), seed: random.below(4), words, registers })
        }

        fn line(&self) -> String {
            let Case { pc, sp, status, seed, words: [first, second], registers } = self;
            let registers: String = registers.iter().map(|value| format!(" {value:x}")).collect();
            format!("{pc:x} {sp:x} {status:x} {seed:x} {first:x} {second:x}{registers}\n")
        }

        /// Returns the state after the instruction, in the emulator's form.
        fn step(
            &self,
            isa: &Isa,
            interpreter: &mut Interpreter,
            state: &mut State,
            filled_state: &StateSnapshot,
        ) -> String {
            state.restore(filled_state);
            state.pc = self.pc;
            for (word, at) in self.words.iter().zip(self.pc..) {
                state.memory_mut(FLASH).set(at & 0xFFF, *word);
            }
            for (value, at) in self.registers.iter().zip(0..) {
                set_register(isa, state, &format!("r{at}"), *value);
            }
            set_register(isa, state, "sp", self.sp);
            set_register(isa, state, "sreg", self.status);
            let mut devices = Devices::new(isa, Console::default());
            let step = interpreter.step(state, &mut devices);
            let (sp, status) = (register(isa, state, "sp"), register(isa, state, "sreg"));
            let mut text = format!("{:x} {sp:x} {status:x} {:x}", state.pc, step.cycles);
            for at in 0..32 {
                text += &format!(" {:x}", register(isa, state, &format!("r{at}")));
            }
            for at in (0..=0x25F).filter(|at| is_plain(*at)) {
                let cell = state.memory(DATA).get(at);
                if cell != filled(self.seed, at) & 0xFF {
                    text += &format!(" {at:x} {cell:x}");
                }
            }
            text
        }
    }

    #[test]
    fn steps_are_those_of_simavr() {
        let Some(compiler) = tools::find("avr::steps_are_those_of_simavr", "cc") else { return };
        if tools::find("avr::steps_are_those_of_simavr", "simavr").is_none() {
            return;
        }
        let program = scratch("simavr").join("avr");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulators/avr.c");
        let built = Command::new(compiler).arg("-O1").arg("-o").arg(&program).arg(source).arg("-lsimavr").status();
        assert!(built.expect("the compiler starts").success(), "avr.c does not compile");
        let isa = machine("avr");
        let (states, seed) = (number("LATHE_STATES", 20_000), number("LATHE_SEED", 1));
        let mut random = Random(seed);
        let mut cases = Vec::new();
        while (cases.len() as u64) < states {
            cases.extend(Case::new(&isa, &mut random));
        }
        let answers = ask(&mut Command::new(program), cases.iter().map(Case::line).collect());
        let (mut interpreter, mut state) = (Interpreter::new(&isa), State::new(&isa));
        let filled_states: Vec<StateSnapshot> = (0..4)
            .map(|seed| {
                (0..0x1000).for_each(|at| state.memory_mut(FLASH).set(at, filled(seed, at)));
                (0..0x260)
                    .filter(|at| is_plain(*at))
                    .for_each(|at| state.memory_mut(DATA).set(at, filled(seed, at) & 0xFF));
                state.snapshot()
            })
            .collect();
        assert_eq!(answers.lines().count(), cases.len());
        for (case, answer) in cases.iter().zip(answers.lines()) {
            let found = case.step(&isa, &mut interpreter, &mut state, &filled_states[case.seed as usize]);
            assert_eq!(found, answer, "{case:x?} (LATHE_SEED={seed})");
        }
    }

    /// The text printed for random instructions, assembled by GNU as.
    #[test]
    fn encodings_are_those_of_gas() {
        let name = "avr::encodings_are_those_of_gas";
        let [Some(assembler), Some(linker), Some(copy)] =
            ["avr-as", "avr-ld", "avr-objcopy"].map(|tool| tools::find(name, tool))
        else {
            return;
        };
        let isa = machine("avr");
        let mut random = Random(number("LATHE_SEED", 1));
        let (mut text, mut cells) = (String::new(), Vec::<u64>::new());
        while cells.len() < 20_000 {
            let words = [random.below(0x10000), random.below(0x10000)];
            let window = window(words, isa.code_memory().cell);
            let Some(decoded) = isa.decode(window) else { continue };
            let line = disassembler::instruction(&isa, &decoded, 0x800, |_, _| None);
            // Distances from the instruction, which has another address there.
            let line = match line.split_once(" 0x") {
                Some((word, target)) if word.starts_with("br") || word.starts_with('r') => {
                    let target = i64::from_str_radix(target, 16).expect("an address");
                    format!("{word} .{:+}", 2 * (target - 0x801))
                }
                _ => line,
            };
            text += &format!("{line}\n");
            cells.extend(&words[..isa.instruction(decoded.instruction).encoding.cells as usize]);
        }
        let folder = scratch("gas");
        // Leaves room for jumps in both directions.
        let text = format!(".space 4096\n{text}.space 4096\n");
        std::fs::write(folder.join("all.s"), text).expect("it can be written");
        let run = |command: &mut Command| command.current_dir(&folder).status().expect("it starts").success();
        assert!(run(Command::new(assembler).args(["-mmcu=attiny85", "-W", "-o", "all.o", "all.s"])));
        let room = "--defsym=__TEXT_REGION_LENGTH__=1M";
        assert!(run(Command::new(linker).args(["-m", "avr25", room, "-Ttext=0", "-o", "all.elf", "all.o"])));
        assert!(run(Command::new(copy).args(["-O", "binary", "all.elf", "all.bin"])));
        let bytes = std::fs::read(folder.join("all.bin")).expect("it has been made");
        let found = bytes[4096..].chunks(2).map(|word| u64::from(word[0]) | u64::from(word[1]) << 8);
        let differs = found.zip(&cells).enumerate().find(|(_, (found, expected))| found != *expected);
        assert_eq!((differs, bytes.len()), (None, 2 * cells.len() + 8192));
    }
}

mod i8051 {
    use super::*;

    const CODE: MemoryId = MemoryId(0);
    const DATA: MemoryId = MemoryId(1);
    const XRAM: MemoryId = MemoryId(2);

    /// The special function registers that are compared, and that are just registers in uCsim.
    const REGISTERS: [u64; 6] = [0x81, 0x82, 0x83, 0xD0, 0xE0, 0xF0];

    /// What is written to both before an instruction; everything else is as the one before left it.
    struct Case {
        pc: u64,
        bytes: [u64; 3],
        sp: u64,
        dptr: u64,
        status: u64,
        a: u64,
        b: u64,
        cells: [(u64, u64); 8],
    }

    impl Case {
        fn new(isa: &Isa, random: &mut Random) -> Option<Case> {
            let bytes = [0; 3].map(|_: u64| random.below(256));
            let decoded = isa.decode(window(bytes, isa.code_memory().cell))?;
            let instruction = isa.instruction(decoded.instruction);
            let b = random.value(8);
            // Ports and timers are devices here, and the result of a division by 0 is undefined.
            let plain = |(field, value): (&FieldId, &u64)| {
                let is_named = |name: &str| isa.field(*field).spellings.iter().any(|(known, _)| known == name);
                match value {
                    0x80.. if is_named("acc") => REGISTERS.contains(value),
                    0x80.. if is_named("ea") => REGISTERS[3..].contains(&(value & 0xF8)),
                    _ => true,
                }
            };
            let defined = instruction.operands.iter().zip(&decoded.operands).all(plain);
            let divides = instruction.syntax.mnemonic() == "div" && b == 0;
            (defined && !divides).then(|| Case {
                pc: random.within(0x100..0xEF00),
                bytes,
                sp: random.within(0x10..0xF0), // uCsim stops where the stack overflows
                dptr: random.value(16),
                status: random.below(256),
                a: random.value(8),
                b,
                cells: [(); 8].map(|()| (random.below(256), random.value(8))),
            })
        }

        /// Returns the commands that set, execute and query there.
        fn commands(&self) -> String {
            let [first, second, third] = self.bytes;
            let mut text = format!("set mem rom {} {first} {second} {third}\n", self.pc);
            let registers = [self.sp, self.dptr & 0xFF, self.dptr >> 8, self.status, self.a, self.b];
            for (address, value) in REGISTERS.iter().zip(registers) {
                text += &format!("set mem sfr {address} {value}\n");
            }
            for (address, value) in self.cells {
                text += &format!("set mem iram {address} {value}\n");
            }
            let dptr = self.dptr;
            text += &format!("set mem xram {dptr} {first}\npc {}\nstep\ndump iram 0 255\n", self.pc);
            for address in REGISTERS {
                text += &format!("dump sfr {address} {address}\n");
            }
            text + &format!("dump xram {dptr} {dptr}\ndump rom 0xF000 0xF000\n")
        }

        fn step(&self, isa: &Isa, interpreter: &mut Interpreter, state: &mut State) -> Answer {
            state.pc = self.pc;
            for (byte, at) in self.bytes.iter().zip(self.pc..) {
                state.memory_mut(CODE).set(at, *byte);
            }
            for (name, value) in [("sp", self.sp), ("dptr", self.dptr), ("a", self.a), ("b", self.b)] {
                set_register(isa, state, name, value);
            }
            for (name, low, bits) in
                [("cy", 7, 1), ("ac", 6, 1), ("f0", 5, 1), ("rs", 3, 2), ("ov", 2, 1), ("f1", 1, 1)]
            {
                set_register(isa, state, name, self.status >> low & ((1 << bits) - 1));
            }
            self.cells.iter().for_each(|(address, value)| state.memory_mut(DATA).set(*address, *value));
            state.memory_mut(XRAM).set(self.dptr, self.bytes[0]);
            let step = interpreter.step(state, &mut Devices::new(isa, Console::default()));
            let get = |name: &str| register(isa, state, name);
            let flags =
                get("cy") << 7 | get("ac") << 6 | get("f0") << 5 | get("rs") << 3 | get("ov") << 2 | get("f1") << 1;
            let status = flags | u64::from(get("a").count_ones() & 1);
            let dptr = get("dptr");
            Answer {
                pc: state.pc,
                cycles: step.cycles,
                memory: (0..256).map(|at| state.memory(DATA).get(at)).collect(),
                registers: vec![get("sp"), dptr & 0xFF, dptr >> 8, status, get("a"), get("b")],
                external: state.memory(XRAM).get(self.dptr),
            }
        }
    }

    /// The state after an instruction.
    #[derive(Debug, PartialEq, Eq)]
    struct Answer {
        pc: u64,
        cycles: u64,
        memory: Vec<u64>,
        registers: Vec<u64>,
        external: u64,
    }

    /// Returns the cells of one line of a dump, after its address.
    fn cells(line: &str, count: usize) -> Vec<u64> {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        // A named register: `0xe0 ACC: 0b10000000 0x80 '.' 128`.
        let named = words.iter().skip(1).find_map(|word| word.strip_prefix("0x"));
        let words = if line.contains(": ") { named.into_iter().collect() } else { words };
        words.into_iter().take(count).filter_map(|word| u64::from_str_radix(word, 16).ok()).collect()
    }

    fn address(line: &str) -> usize {
        let word = line.split_whitespace().next().and_then(|word| word.strip_prefix("0x"));
        word.and_then(|word| usize::from_str_radix(word, 16).ok()).unwrap_or(0)
    }

    /// Returns what uCsim printed after each step.
    fn answers(text: &str) -> Vec<Answer> {
        let after_steps = text.split("Stop at 0x").skip(1);
        let answer = |text: &str| {
            let (pc, rest) = text.split_once(": (109) stepped ")?;
            let (ticks, rest) = rest.split_once(" ticks")?;
            let dumps = rest.lines().skip_while(|line| !line.starts_with("F 0x")).filter(|line| line.starts_with("0x"));
            let dumps: Vec<&str> = dumps.take_while(|line| !line.starts_with("0xf000")).collect();
            // A line of a memory dump ends at the next line's address, which is sooner where a label is.
            let lines = dumps.iter().take_while(|line| !line.contains(": "));
            let starts: Vec<usize> = lines.map(|line| address(line)).chain([0x100]).collect();
            let (memory, rest) = dumps.split_at_checked(starts.len() - 1)?;
            let memory = memory.iter().zip(starts.windows(2));
            Some(Answer {
                // It counts on past the last address.
                pc: u64::from_str_radix(pc, 16).ok()? & 0xFFFF,
                cycles: ticks.parse::<u64>().ok()? / 12,
                memory: memory.flat_map(|(line, starts)| cells(line, starts[1] - starts[0])).collect(),
                registers: rest.iter().take(6).flat_map(|line| cells(line, 1)).collect(),
                external: *rest.get(6).map(|line| cells(line, 1))?.first()?,
            })
        };
        after_steps.map(|text| answer(text).unwrap_or_else(|| panic!("uCsim said something else: {text}"))).collect()
    }

    #[test]
    fn steps_are_those_of_ucsim() {
        let Some(emulator) = tools::find("i8051::steps_are_those_of_ucsim", "s51") else { return };
        let isa = machine("i8051");
        let (states, seed) = (number("LATHE_STATES", 3_000), number("LATHE_SEED", 1));
        let mut random = Random(seed);
        let mut cases = Vec::new();
        while (cases.len() as u64) < states {
            cases.extend(Case::new(&isa, &mut random));
        }
        let zeros = |memory: &str, count: u64| format!("fill {memory} 0 {} 0\n", count - 1);
        let commands: String = cases.iter().map(Case::commands).collect();
        let commands = zeros("iram", 0x100) + &zeros("xram", 0x10000) + &zeros("rom", 0x10000) + &commands + "quit\n";
        let script = scratch("ucsim").join("commands");
        std::fs::write(&script, commands).expect("it can be written");
        let text = ask(Command::new(emulator).args(["-t", "C52", "-b", "-C"]).arg(script), String::new());
        let answers = answers(&text);
        assert_eq!(answers.len(), cases.len());
        let (mut interpreter, mut state) = (Interpreter::new(&isa), State::new(&isa));
        for (case, answer) in cases.iter().zip(&answers) {
            let mut found = case.step(&isa, &mut interpreter, &mut state);
            let decoded = isa.decode(window(case.bytes, isa.code_memory().cell)).expect("it was decoded before");
            let text = disassembler::instruction(&isa, &decoded, case.pc, |_, _| None);
            // A write to `psw` changes its parity bit there, until `a` is written.
            if text.contains("psw") {
                found.registers[3] = found.registers[3] & !1 | answer.registers[3] & 1;
            }
            assert_eq!(found, *answer, "{text} (LATHE_SEED={seed})");
        }
    }
}
