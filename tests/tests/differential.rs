//! Every engine against the reference interpreter on generated programs.
//!
//! `LATHE_PROGRAMS` sets how many programs each machine gets, and `LATHE_SEED` where the
//! seeds start.

use lathe_jit::{Jit, SharedCode};
use lathe_tests::differential::compare;
use lathe_vm::Fast;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn check<'i, E: lathe_vm::Engine>(isa: &'i lathe_isa::Isa, engine: &dyn Fn(&'i lathe_isa::Isa) -> E) {
    let (programs, seed) = (number("LATHE_PROGRAMS", 1_600), number("LATHE_SEED", 1));
    println!("{}: {programs} programs from seed {seed}", isa.name);
    if let Err(disagreement) = compare(isa, seed..seed + programs, engine) {
        panic!("{}: {disagreement}", isa.name);
    }
}

fn isa(name: &str) -> lathe_isa::Isa {
    let machine = lathe_machines::find(name).expect("the machine ships");
    lathe_isa::load(machine.definition).isa.expect("its definition is right")
}

/// Machines that do not ship: other cell and address widths, other word orders.
fn other(name: &str) -> lathe_isa::Isa {
    let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the definition is there");
    lathe_isa::load(&text).isa.expect("the definition is right")
}

#[test]
fn machines_that_do_not_ship() {
    for name in ["acc12", "tape16", "twice8", "word32"] {
        let isa = other(name);
        check(&isa, &Fast::new);
        check(&isa, &|isa| Jit::with_threshold(isa, 2));
    }
}

/// All engines run one another's code, wherever the cells are the same.
#[test]
fn engines_that_share_code() {
    for machine in lathe_machines::ALL {
        let isa = isa(machine.name);
        let code = SharedCode::with_threshold(&isa, 2);
        check(&isa, &|_| Jit::sharing(&code));
    }
}

macro_rules! machines {
    ($($name:ident)*) => {
        mod fast {
            use super::*;
            $(#[test]
            fn $name() {
                check(&isa(stringify!($name)), &Fast::new);
            })*
        }

        mod jit {
            use super::*;
            $(#[test]
            fn $name() {
                check(&isa(stringify!($name)), &|isa| Jit::with_threshold(isa, 2));
            })*
        }
    };
}

machines! { quad8 duo16 stack8a stack8b hex8 sm83 mos6502 rv32i chip8 lc3 }
