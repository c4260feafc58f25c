//! The deepest meanings that a definition can have, on every engine with a small stack: an instruction too deep to be
//! lowered or compiled is left to the reference interpreter, and all engines do the same.

use std::fmt::Write;
use std::sync::Arc;

use lathe_fast::Fast;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

const STACK: usize = 512 << 10;
const STEPS: u64 = 600;

const HEAD: &str = "machine m \"\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b : u8\n";

fn row(meaning: &str) -> String {
    format!("{HEAD}instructions {{\n  go | 0000 0000 | {meaning}\n}}\n")
}

/// Runs a program of nothing but the instruction, on every engine.
#[track_caller]
fn runs(text: String) {
    let run = move || {
        let loaded = lathe_isa::load(&text);
        let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
        let engines: [(&str, Box<dyn Engine>); 5] = [
            ("interp", Box::new(Interpreter::new(&isa))),
            ("fast", Box::new(Fast::eager(&isa))),
            ("fast-steps", Box::new(Fast::stepping(&isa))),
            ("jit", Box::new(Jit::with_threshold(&isa, 2))),
            ("jit-steps", Box::new(Jit::stepping(&isa))),
        ];
        let ends = engines.map(|(name, mut engine)| {
            let (mut state, mut devices) = (State::new(&isa), Devices::new(&isa, Console::default()));
            (state.registers_mut()[0], state.registers_mut()[1]) = (3, 7);
            let run = engine.run(&mut state, &mut devices, STEPS);
            (name, run, state)
        });
        for (name, run, state) in &ends {
            assert_eq!((run, state.registers()), (&ends[0].1, ends[0].2.registers()), "{name}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.expect("a thread").join().expect("it survives");
}

/// Returns the definition of this shape with the largest of these counts that is accepted; the largest comes first.
fn largest(counts: impl IntoIterator<Item = usize>, shape: impl Fn(usize) -> String) -> String {
    let mut texts = counts.into_iter().map(shape);
    texts.find(|text| lathe_isa::load(text).isa.is_some()).expect("one of them is accepted")
}

/// Each local is made from the one before.
#[test]
fn a_long_chain_of_let() {
    let chain = |count: usize| {
        let mut meaning = String::from("{ let x0 = a + 1\n");
        for at in 1..count {
            let operator = ["+", "^", "*"][at % 3];
            writeln!(meaning, "let x{at} = x{} {operator} (b | {})", at - 1, at % 200).unwrap();
        }
        writeln!(meaning, "a = x{}; b = b + 3 }}", count - 1).unwrap();
        row(&meaning)
    };
    [10, 200, 300, 500, 700, 1_000].into_iter().for_each(|count| runs(chain(count)));
    runs(largest((1..40).rev().map(|hundreds| hundreds * 100), chain));
}

#[test]
fn a_long_chain_of_choices() {
    let chain = |count: usize| {
        let mut meaning = String::from("{ let x0 = a\n");
        for at in 1..count {
            writeln!(meaning, "let x{at} = b == {} ? x{} : x{} + b", at % 256, at - 1, at - 1).unwrap();
        }
        writeln!(meaning, "a = x{}; b = b + 1 }}", count - 1).unwrap();
        row(&meaning)
    };
    [100, 400].into_iter().for_each(|count| runs(chain(count)));
    runs(largest((1..30).rev().map(|hundreds| hundreds * 100), chain));
}

#[test]
fn the_deepest_blocks_and_parentheses() {
    let shapes: [fn(usize) -> String; 5] = [
        |count| format!("a = {}a{}", "(b ^ 3 * ".repeat(count), ")".repeat(count)),
        |count| format!("{}a = a + 1{}", "if a != 9 { a = a + b; ".repeat(count), " }".repeat(count)),
        |count| format!("{}{{ a = a + 1 }}", "if a == 200 { a = 2 } else ".repeat(count)),
        |count| format!("a = {}a + 1{}", "b != 200 ? ".repeat(count), " : b".repeat(count)),
        |count| format!("ram[0x80 | (a & 15)] = 0{}", "; a = a * 3 + b; b = a ^ 5".repeat(count)),
    ];
    for shape in shapes {
        runs(row(&shape(10)));
        runs(largest((10..70).rev(), |count| row(&shape(count))));
    }
}

/// Short instructions, each of which needs the result of the one before: a block of them is deep as well.
#[test]
fn many_instructions_one_upon_the_other() {
    runs(row("a = (a * 5 + b) ^ (a >> 3); b = (b * 3 ^ a) + (b << 1)"));
}
