//! Texts about a machine: compiled against its definition and evaluated in a state of it.
//!
//! Each line of a table is a text and its result; `!` before an expected text marks a message.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_base::{Diagnostics, Source};
use lathe_isa::Isa;
use lathe_tests::random::Random;
use lathe_vm::device::{Console, Devices};
use lathe_vm::{Interpreter, State};

const MACHINE: &str = r#"
machine watched "Something to look at"
memory ram : u8 -> u8 little
memory rom : u4 -> u16
pc pc : u8 in ram
register a, b, sp : u8
register w : u16
constant zero : u8 = 0
view ab = a ++ b
field D : register { a, b }
field MODE : enum { slow = 1, quick = 2 }
device console : stream
trap divide = 7
map ram {
  0xF0 | console.read() | console.write(value)
}
fn top() -> u8 { ram[sp] }
fn push(v: u8) { sp = sp - 1; ram[sp] = v }
fn pop() -> u8 { let v = ram[sp]; sp = sp + 1; v }
fn wide(x: uK) -> uK { x + 1 }
fn broken() -> u8 { nothing }
fn checked(x: u8) -> u8 { if x == 0 { fault "zero" }; x }
family OP : u1 (x: u8) -> u8 { up = x + 1
  down = x - 1
}
instructions {
  {OP} D     | 0000 00 {OP} D | D = OP(D) + wide(zero)
  mode MODE  | 0001 00 {MODE} | push(top()); a = pop(); w = rom[0]; b = w[7:0]; a = checked(a)
}
"#;

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

fn symbols() -> BTreeMap<String, u64> {
    [("start", 0x10), ("main.loop", 0x12), (".loop", 0x13), ("a", 0xEE), ("far", 0x1234)]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

fn state(isa: &Arc<Isa>) -> State {
    let mut state = State::new(isa);
    let set = "a = 4; b = 0x85; sp = 0x20; w = 0xBEEF; ram[0x20] = 0; ram[0x10] = 0x34; ram[0x11] = 0x12; pc = 0x40; rom[3] = 0xABCD";
    run(isa, set, &mut state).unwrap();
    state
}

fn message(diagnostics: Diagnostics) -> String {
    let list = diagnostics.into_sorted();
    assert!(list.iter().all(|one| !one.help.is_empty()), "no next step: {list:?}");
    list.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn run(isa: &Arc<Isa>, text: &str, state: &mut State) -> Result<u64, String> {
    let body = isa.compile_statements(text, &symbols()).map_err(message)?;
    let mut devices = Devices::new(isa, Console::with_input(Vec::new()));
    Interpreter::new(isa).evaluate(&body, state, &mut devices).map_err(|cause| format!("{cause:?}"))
}

fn value(isa: &Arc<Isa>, text: &str, state: &mut State) -> Result<u64, String> {
    let compiled = isa.compile(text, &symbols()).map_err(message)?;
    let mut devices = Devices::new(isa, Console::with_input(Vec::new()));
    let before = state.clone();
    let value = Interpreter::new(isa).evaluate(&compiled.body, state, &mut devices);
    assert!(before == *state, "`{text}` changes the state");
    value.map_err(|cause| format!("{cause:?}"))
}

#[test]
fn expressions_see_everything_that_a_meaning_sees() {
    let isa = isa();
    let table = [
        ("ram[sp] == 0 && a > 3", "0x1"),
        ("a", "0x4"),
        ("ab", "0x485"),
        ("a ++ b[7:4]", "0x48"),
        ("signed(b) < 0", "0x1"),
        ("sext(b, 16)", "0xFF85"),
        ("pc", "0x40"),
        ("pc + 1 == 0x41", "0x1"),
        ("ram.u16[start]", "0x1234"),
        ("rom[3]", "0xABCD"),
        ("zero", "0x0"),
        ("quick + divide", "0x9"),
        ("top()", "0x0"),
        ("wide(w)", "0xBEF0"),
        ("a == quick ? b : a", "0x4"),
        ("main.loop", "0x12"),
        (".loop + 1", "0x14"),
        ("5", "0x5"),
        ("far", "0x1234"),
        ("w == far", "0x0"),
        ("ram[0xF0]", "0x0"),
        ("checked(a)", "0x4"),
        ("(u128(w) * u128(w) << 64)[95:64]", "0x8E67A321"),
        ("u65(w) << 48 == 0xBEEF << 48", "0x1"),
        ("(a ++ b ++ w ++ w ++ w ++ w)[79:72]", "0x4"),
        ("u128(a)", "!what is shown has at most 64 bits, but this has 128"),
        ("(u128(a) / 3)[7:0]", "!`/` takes at most 64 bits, but this has 128"),
        ("checked(ram[sp])", "!Declared(\"zero\", None)"),
        ("ram[sp] = 0", "!expected the end of the expression, found `=`"),
        ("", "!expected a value, found the end of the file"),
        ("a +", "!expected a value, found the end of the file"),
        ("a == far", "!4660 does not fit in 8 bits"),
        ("a == w", "!8 bits on the left, 16 on the right"),
        ("stat", "!there is nothing named `stat`"),
        ("D", "!`D` is not an operand here"),
        ("OP(a)", "!this row does not say which member of `OP` it means"),
        ("next", "!there is no next instruction here"),
        ("pop()", "!this would change the machine"),
        ("console.read()", "!this uses the device `console`, which can change it"),
        ("broken()", "!`broken` cannot be called: there is nothing named `nothing`"),
        ("ram", "!`ram` is a memory, not a value"),
    ];
    compare(&table, |text| value(&isa, text, &mut state(&isa)));
}

#[test]
fn statements_change_everything_that_a_meaning_changes() {
    let isa = isa();
    let table = [
        ("a = 5 | a", "0x5"),
        ("let x : u80 = 1 << 70; w = x[79:64]; x = x >> 3; ab = x[79:64] | ab + w", "0x48"),
        ("ab = 0x1234 | b", "0x34"),
        ("a[3:0] = 9 | a", "0x9"),
        ("pc = start | pc", "0x10"),
        ("ram[0x10] = 3 | ram[0x10]", "0x3"),
        ("ram.u16[0x30] = far | ram[0x31]", "0x12"),
        ("ram[0xF0] = 7 | ram[0xF0]", "0x7"),
        ("push(9) | ram[sp]", "0x9"),
        ("if a == 4 { a = 1 } else { a = 2 } | a", "0x1"),
        ("let x = a; a = b; b = x | b", "0x4"),
        ("a = b; a = checked(zero) | a", "!Declared(\"zero\", None)"),
        ("a = 300 | a", "!300 does not fit in 8 bits"),
        ("zero = 1 | a", "!the constant `zero` cannot be assigned"),
        ("skip | a", "!there is nothing to skip here"),
        ("a | a", "!nothing uses this value"),
        ("start = 1 | a", "!there is no register named `start`"),
    ];
    compare(&table, |text| {
        let (statements, expression) = text.split_once(" | ").expect("two parts");
        let mut state = state(&isa);
        run(&isa, statements, &mut state)?;
        value(&isa, expression, &mut state)
    });
}

fn compare(table: &[(&str, &str)], outcome: impl Fn(&str) -> Result<u64, String>) {
    for (text, expected) in table {
        let found = outcome(text).map_or_else(|message| format!("!{message}"), |value| format!("0x{value:X}"));
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn a_fault_leaves_the_state_as_it_was() {
    let isa = isa();
    let mut state = state(&isa);
    assert!(run(&isa, "a = 9; ram[0x20] = 9; b = checked(zero)", &mut state).is_err());
    assert_eq!(value(&isa, "a == 4 && ram[0x20] == 0", &mut state), Ok(1));
}

#[test]
fn places_are_in_the_text() {
    let isa = isa();
    for (text, place) in [("a + stat", "stat"), ("1 + broken()", "broken()"), ("a == (w)", "a == (w")] {
        let found = isa.compile(text, &symbols()).unwrap_err().into_sorted();
        let source = Source::new("text", text);
        let range = found[0].primary.span.range();
        assert_eq!(source.text.get(range), Some(place), "{text}");
    }
}

#[test]
fn a_similar_label_is_named() {
    let found = isa().compile("strat", &symbols()).unwrap_err().into_sorted();
    assert_eq!(found[0].help, ["did you mean `start`?"]);
}

/// Whatever is typed, there is an answer.
#[test]
fn no_text_makes_it_panic() {
    let isa = isa();
    let words = [
        "a",
        "b",
        "w",
        "ram",
        "rom",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "+",
        "++",
        "-",
        "~",
        "!",
        "?",
        ":",
        "==",
        "=",
        ";",
        "0",
        "0xFFFF",
        "99999999999999999999",
        ".",
        "..",
        ".u16",
        "let x",
        "if",
        "else",
        "for r in",
        "halt",
        "fault",
        "\"x\"",
        "pop()",
        "push",
        "OP",
        "D",
        "next",
        "pc",
        "top()",
        "broken()",
        "|",
        "&&",
        "\n",
        "#",
        "é",
        "'",
        "u8(",
        "u128(",
        "s99(",
        "1 << 120",
        "*",
        "/",
    ];
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let text: Vec<&str> = (0..random.below(12)).map(|_| *random.pick(&words)).collect();
        let text = text.join(if seed % 2 == 0 { " " } else { "" });
        for result in [isa.compile(&text, &symbols()).err(), isa.compile_statements(&text, &symbols()).err()] {
            assert!(result.is_none_or(|found| found.has_errors()), "seed {seed}: {text}");
        }
    }
}
