//! Every engine against the reference interpreter on generated programs.
//!
//! `LATHE_PROGRAMS` sets how many programs each machine gets, and `LATHE_SEED` where the
//! seeds start. `cargo xtask nightly` runs fifty times as many.

use std::path::Path;
use std::sync::Arc;

use lathe_base::Source;
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::{Jit, SharedCode, Statistics};
use lathe_tests::definitions::definition;
use lathe_tests::differential::{Contestant, Disagreement, compare, generate, later, play, save, text};
use lathe_vm::{Devices, Engine, Interpreter, Run, State, Stop, Stops};

/// Reduces the programs for single steps: these are slow, and differences show in few programs.
const SINGLE_STEPS: u64 = 16;
/// Reduces the programs that go from engine to engine: they differ soon or not at all.
const TURNS: u64 = 4;
/// The most cells of a machine of ordinary size.
const CELLS: u64 = 1 << 17;
/// How many programs each generated definition gets.
const PROGRAMS: u64 = 4;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Compares the programs of one machine, their number divided by this one, and by more if there is much memory to
/// compare.
fn check(isa: &Arc<Isa>, machine: &str, engine: &Contestant, divided_by: u64) {
    let cells: u64 = isa.memories.iter().filter(|memory| !memory.is_large()).map(|memory| memory.last() + 1).sum();
    let divided_by = divided_by * (cells / CELLS).max(1);
    let (programs, seed) = (number("LATHE_PROGRAMS", 400) / divided_by, number("LATHE_SEED", 1));
    println!("{machine}: {programs} programs from seed {seed}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential");
    let keep = |found: &Disagreement| save(&folder, isa, machine, engine, found);
    let found = compare(isa, seed..seed + programs, engine, &mut |found| drop(keep(found)));
    if let Err(found) = found {
        let path = keep(&found).map_or_else(|error| error.to_string(), |path| path.display().to_string());
        panic!("{}saved: {path}", text(isa, machine, engine, &found));
    }
}

fn fast() -> Contestant {
    Contestant::new("fast", Fast::eager)
}

fn jit() -> Contestant {
    Contestant::new("jit", |isa| Jit::with_threshold(isa, 2))
}

fn isa(name: &str) -> Arc<Isa> {
    let machine = lathe_machines::find(name).expect("the machine ships");
    Arc::new(lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right"))
}

/// The machines of `tests/machines`.
const MACHINES: [&str; 15] = [
    "acc12",
    "banked8",
    "clock8",
    "far40",
    "far64",
    "irq8",
    "prefix8",
    "refresh8",
    "rv32e",
    "rv64im",
    "segment16",
    "tape16",
    "twice8",
    "wide8",
    "word32",
];

/// Machines that do not ship: other cell and address widths, other word orders.
#[test]
fn machines_that_do_not_ship() {
    for name in MACHINES {
        let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
        let definition = Source::new(&path, std::fs::read_to_string(&path).expect("the definition is there"));
        let isa = lathe_isa::load_with(definition, &lathe_machines::Shipped).isa.expect("the definition is right");
        let isa = Arc::new(isa);
        let machine = format!("tests/machines/{name}.isa");
        check(&isa, &machine, &fast(), 1);
        check(&isa, &machine, &jit(), 1);
    }
}

/// Machines that nobody designed: a few programs each, on all engines.
#[test]
fn generated_definitions() {
    let (machines, seed) = (number("LATHE_PROGRAMS", 400) / 8, number("LATHE_SEED", 1));
    println!("{machines} definitions from seed {seed}");
    for seed in seed..seed + machines {
        let definition = definition(seed);
        let Some(isa) = lathe_isa::load(&definition).isa.map(Arc::new) else { continue };
        for engine in [fast(), jit()] {
            if let Err(found) = compare(&isa, seed..seed + PROGRAMS, &engine, &mut |_| {}) {
                let machine = "generated";
                panic!("definition of seed {seed}:\n{definition}\n{}", text(&isa, machine, &engine, &found));
            }
        }
    }
}

/// All engines run each other's code, wherever the cells are the same.
#[test]
fn engines_that_share_code() {
    for machine in lathe_machines::ALL {
        let isa = isa(machine.name);
        let code = SharedCode::with_threshold(&isa, 2);
        check(&isa, machine.name, &Contestant::new("jit-shared", move |_| Jit::sharing(&code)), 1);
    }
}

/// Compiled code arrives while the interpreter goes on: after two more jobs have been ordered, or whenever another
/// thread has finished it.
#[test]
fn code_that_arrives_later() {
    for machine in lathe_machines::ALL {
        let isa = isa(machine.name);
        let code = |isa: &Arc<Isa>| SharedCode::with_threshold(isa, 2);
        let late = Contestant::new("jit-later", move |isa| Jit::sharing(&code(isa).in_background(later(2))));
        check(&isa, machine.name, &late, 1);
        let thread = || Arc::new(|job| drop(std::thread::spawn(job)));
        let elsewhere = Contestant::new("jit-thread", move |isa| Jit::sharing(&code(isa).in_background(thread())));
        check(&isa, machine.name, &elsewhere, TURNS);
    }
}

/// Each run is on another engine than the last: they pass on the state unchanged.
struct TakingTurns {
    engines: [Box<dyn Engine>; 3],
    next: usize,
}

impl TakingTurns {
    fn new(isa: &Arc<Isa>) -> Self {
        let jit = || Box::new(Jit::with_threshold(isa, 2));
        TakingTurns { engines: [jit(), Box::new(Fast::eager(isa)), jit()], next: 0 }
    }
}

impl Engine for TakingTurns {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        self.next = (self.next + 1) % self.engines.len();
        self.engines[self.next].advance(state, devices, stops)
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        self.engines[self.next].interpreter()
    }
}

#[test]
fn engines_that_take_turns() {
    for machine in lathe_machines::ALL {
        let isa = isa(machine.name);
        check(&isa, machine.name, &Contestant::new("turns", TakingTurns::new), TURNS);
    }
}

/// The engines for single steps; a program tests them as well as many vectors do.
#[test]
fn engines_for_single_steps() {
    for machine in lathe_machines::ALL {
        let isa = isa(machine.name);
        check(&isa, machine.name, &Contestant::new("fast-steps", Fast::stepping), SINGLE_STEPS);
        check(&isa, machine.name, &Contestant::new("jit-steps", Jit::stepping), SINGLE_STEPS);
    }
}

/// How many of a machine's programs reach each goal.
#[derive(Debug, Default)]
struct Reached {
    compiled: u64,
    chained: u64,
    improved: u64,
    changed: u64,
    output: u64,
    faults: u64,
    ends_midway: u64,
    wrapped: u64,
}

/// Generated programs do what they are made for, and not just occasionally.
#[test]
fn generated_programs_reach_what_they_are_made_for() {
    const PROGRAMS: u64 = 400;
    for name in ["duo16", "hex8", "sm83", "mos6502"] {
        let isa = isa(name);
        let mut reached = Reached::default();
        for seed in 0..PROGRAMS {
            let case = generate(&isa, seed);
            let mut jit = Jit::with_threshold(&isa, 2);
            let sights = play(&isa, &case, &mut jit);
            let Statistics { steps, entries, improved, invalidations, patched, .. } = jit.statistics();
            let last = sights.last().expect("there is a limit");
            reached.compiled += u64::from(steps > 100);
            reached.chained += u64::from(entries > 4);
            reached.improved += u64::from(improved > 0);
            reached.changed += u64::from(invalidations + patched > 0);
            reached.output += u64::from(!last.output.is_empty());
            reached.faults += u64::from(matches!(last.run.stop, Stop::Fault(_)));
            reached.ends_midway += u64::from(sights.iter().filter(|sight| sight.run.stop == Stop::Limit).count() > 4);
            reached.wrapped += u64::from(case.origin > isa.pc.width.mask() - 8);
        }
        println!("{name}: {reached:?}");
        let Reached { compiled, chained, improved, changed, output, faults, ends_midway, wrapped } = reached;
        assert!(compiled > PROGRAMS / 8 && chained > PROGRAMS / 40, "{name}: {reached:?}");
        assert!(improved > PROGRAMS / 40, "{name}: {reached:?}");
        assert!(changed > 0 && ends_midway > PROGRAMS / 40, "{name}: {reached:?}");
        assert!(wrapped > PROGRAMS / 10 && output + faults > 1, "{name}: {reached:?}");
    }
}

macro_rules! machines {
    ($($name:ident)*) => {
        mod fast_engine {
            use super::*;
            $(#[test]
            fn $name() {
                check(&isa(stringify!($name)), stringify!($name), &fast(), 1);
            })*
        }

        mod jit_engine {
            use super::*;
            $(#[test]
            fn $name() {
                check(&isa(stringify!($name)), stringify!($name), &jit(), 1);
            })*
        }
    };
}

machines! { quad8 duo16 stack8a stack8b hex8 sm83 mos6502 rv32i chip8 lc3 z80 mos6502x w65c02 avr i8051 superchip gameboy i8080 pdp11 pdp8 rv32imc rv64i msp430 }
