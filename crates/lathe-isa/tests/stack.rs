//! Hostile definitions on a small stack: whatever they contain, reading them and everything else in this crate gets by
//! with 512 KiB.

use std::fmt::Write;

use lathe_isa::coverage::coverage;
use lathe_isa::load;
use lathe_isa::operand::Location;
use lathe_isa::specialize::specialize;

const STACK: usize = 512 << 10;

const HEAD: &str = "machine m \"\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b : u8\n";

/// Runs everything there is on a definition, on a thread with a small stack.
#[track_caller]
fn survives(text: String) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let loaded = load(&text);
        let _ = loaded.names.at(5);
        if let Some(isa) = loaded.isa.as_ref() {
            let _ = coverage(isa);
            let cell = isa.code_memory().cell;
            for first in 0..=255 {
                let Some(decoded) = isa.decode(lathe_isa::encoding::window([first], cell)) else { continue };
                let body = specialize(isa, &decoded, Location { pc: 0, next: 1, width: isa.pc.width });
                let _ = body.effects();
            }
            let deep = format!("{}a{}", "(".repeat(60), ")".repeat(60));
            let _ = isa.compile(&deep, &());
            let _ = isa.compile("f0(a)", &());
        }
        drop(loaded);
    });
    thread.expect("a thread").join().expect("it survives");
}

fn row(meaning: &str) -> String {
    format!("{HEAD}instructions {{\n  go | 0000 0000 | {meaning}\n}}\n")
}

/// Each local is read once, by the next: if all were substituted, the expression would be as deep as there are locals.
#[test]
fn a_long_chain_of_let() {
    for count in [10, 1_000, 4_000, 9_000] {
        let mut meaning = String::from("{ let x0 = a + 1\n");
        for at in 1..count {
            writeln!(meaning, "let x{at} = x{} + b", at - 1).unwrap();
        }
        writeln!(meaning, "a = x{} }}", count - 1).unwrap();
        survives(row(&meaning));
    }
}

#[test]
fn a_long_chain_of_choices() {
    let mut meaning = String::from("{ let x0 = a\n");
    for at in 1..2_000 {
        writeln!(meaning, "let x{at} = b == {} ? x{} : u8(x{}[0])", at % 256, at - 1, at - 1).unwrap();
    }
    meaning.push_str("a = x1999 }");
    survives(row(&meaning));
}

#[test]
fn parentheses_blocks_and_operators() {
    for count in [10, 60, 63, 64, 65, 500, 50_000] {
        survives(row(&format!("a = {}a{}", "(".repeat(count), ")".repeat(count))));
        survives(row(&format!("a = {}a", "~".repeat(count))));
        survives(row(&format!("a = a{}", " + b".repeat(count))));
        survives(row(&format!("{}a = 1{}", "if a == 0 { ".repeat(count), " }".repeat(count))));
        survives(row(&format!("{}a = 1", "if a == 0 { a = 2 } else ".repeat(count))));
        survives(row(&format!("a = {}a{}", "b == 0 ? ".repeat(count), " : b".repeat(count))));
        survives(row(&format!("a{} = 1", "[7:0]".repeat(count))));
        survives(row(&format!("a = a{}", "[7:0]".repeat(count))));
    }
}

/// Wide values are split when all else is done.
#[test]
fn wide_values_nest() {
    for count in [10, 60, 63, 127, 500] {
        survives(row(&format!("a = ({}u128(a){})[7:0]", "(".repeat(count), " * u128(b))".repeat(count))));
        survives(row(&format!("a = ({}u128(a))[127:120]", "~".repeat(count))));
        survives(row(&format!("a = (u128(a){})[127:120]", " >> b".repeat(count))));
        survives(row(&format!("a = ({}u99(a){})[98:91]", "b == 0 ? ".repeat(count), " : u99(b)".repeat(count))));
        survives(row(&format!("let x : u128 = 1; x{} = 1; a = x[7:0]", "[127:0]".repeat(count))));
    }
}

/// Functions that call one another, each with as deep an expression as it can have.
#[test]
fn functions_put_in_place_nest() {
    for (depth, inside) in [(10, 10), (60, 2), (63, 1), (64, 60), (200, 1), (20, 60)] {
        let mut text = String::from(HEAD);
        for at in 0..depth {
            let (open, close) = ("~(b + ".repeat(inside), ")".repeat(inside));
            let next = if at + 1 < depth { format!("f{}(x)", at + 1) } else { "x".into() };
            writeln!(text, "fn f{at}(x: u8) -> u8 {{ {open}{next}{close} }}").unwrap();
        }
        text += "instructions {\n  go | 0000 0000 | a = f0(b)\n}\n";
        survives(text);
    }
}

#[test]
fn wide_tables() {
    let mut text = format!("{HEAD}view v = a{}\n", " ++ a".repeat(200));
    text += "field F : enum { ";
    for at in 0..1_000 {
        write!(text, "n{at} = {}, ", at * 61).unwrap();
    }
    text += "last = 65535 }\ninstructions {\n  go F | 0000 0000 {F} | a = b\n}\n";
    survives(text);
}
