//! No definition makes Lathe panic, hang or run out of memory: random texts, random tokens, mutations of the
//! definitions that ship, and definitions made to be too large. Each limit has its own clear error.
//!
//! A definition that loads must also run: its examples, and a thousand steps on random memory.
//!
//! `PROPTEST_CASES` sets how many cases each random test has (400 if not set).

use std::sync::Arc;
use std::time::{Duration, Instant};

use lathe_base::{Diagnostic, limits};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_vm::{Console, Devices, Interpreter, State, Stop};
use proptest::prelude::*;

/// Far more time than anything here takes, even on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(60);

/// Loads a text and, if it is a machine, runs it. Returns what was reported.
fn survive(text: &str, seed: u64) -> Vec<Diagnostic> {
    let start = Instant::now();
    let loaded = lathe_isa::load(text);
    let isa = loaded.isa.map(Arc::new);
    if let Some(isa) = &isa {
        for diagnostic in lathe_vm::examples::check(isa) {
            assert_well_formed(&diagnostic, text);
        }
        lathe_isa::coverage::coverage(isa);
        run_on_random_memory(isa, seed);
    }
    let found = loaded.diagnostics.into_sorted();
    assert!(isa.is_some() || !found.is_empty(), "no machine, and nothing said about it");
    found.iter().for_each(|diagnostic| assert_well_formed(diagnostic, text));
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
    found
}

/// Checks that places are inside the text and between characters, and that there is a cause and a next step.
fn assert_well_formed(diagnostic: &Diagnostic, text: &str) {
    let places = diagnostic.others.iter().chain([&diagnostic.primary]);
    for label in places {
        assert!(text.get(label.span.range()).is_some(), "a place outside the text: {diagnostic:?}");
    }
    assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty(), "{diagnostic:?}");
}

fn run_on_random_memory(isa: &Arc<Isa>, mut seed: u64) {
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed.rotate_right(11)
    };
    let mut state = State::new(isa);
    for (at, memory) in isa.memories.iter().enumerate() {
        for address in 0..=memory.last().min(255) {
            state.memory_mut(MemoryId(at as u32)).set(address, random());
        }
    }
    let mut devices = Devices::new(isa, Console::with_input([1, 2, 3]));
    let mut interpreter = Interpreter::new(isa);
    for _ in 0..1_000 {
        let step = interpreter.step(&mut state, &mut devices);
        if !matches!(step.stop, None | Some(Stop::Limit)) {
            state.pc = isa.pc.width.wrap(random());
        }
    }
    for (register, value) in isa.registers.iter().zip(state.registers()) {
        assert!(register.width.holds(*value), "`{}` holds more bits than it has", register.name);
    }
}

const START: &str = "machine m \"m\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b : u8\n";

fn machine(rest: &str) -> String {
    format!("{START}{rest}")
}

fn row(meaning: &str) -> String {
    machine(&format!("instructions {{\n  x | 0000 0000 | {meaning}\n}}\n"))
}

/// Checks that a text over some limit gives that limit's code and words.
#[track_caller]
fn over(text: &str, code: &str, words: &str) {
    let found = survive(text, 1);
    let shown: Vec<String> = found.iter().map(|d| format!("{} {}", d.code.name, d.message)).collect();
    let expected = found.iter().any(|d| d.code.name == code && d.message.contains(words));
    assert!(expected, "wanted {code} {words:?}, found {shown:#?}");
    assert!(found.len() <= limits::DIAGNOSTICS);
}

/// Checks that nothing is wrong with a text, apart from unused declarations.
#[track_caller]
fn fine(text: &str) {
    let found = survive(text, 1);
    assert!(found.iter().all(|d| d.code.name.starts_with('W')), "{found:#?}");
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

#[test]
fn size_of_a_definition() {
    over(&"#".repeat(limits::DEFINITION_BYTES + 1), "E901", "bytes; the limit is 1048576");
    over(&machine(&"\n".repeat(limits::DEFINITION_BYTES - START.len())), "E206", "no instructions");
}

#[test]
fn nesting() {
    over(&row(&format!("a = {}b{}", "(".repeat(100), ")".repeat(100))), "E902", "more than 64 deep");
    over(&row(&format!("a = {}b", "(".repeat(300_000))), "E902", "more than 64 deep");
    over(&row(&format!("a = {}b", "~".repeat(300_000))), "E902", "more than 64 deep");
    over(&row(&format!("a = {}", "b[".repeat(200_000))), "E902", "more than 64 deep");
    over(&row(&format!("a = {}", "b ? ".repeat(200_000))), "E902", "more than 64 deep");
    over(&row(&format!("{}a = b", "if b[0] { ".repeat(90_000))), "E902", "more than 64 deep");
    over(&row(&"if b[0] { a = 1 } else ".repeat(40_000)), "E902", "more than 64 deep");
    over(&row(&format!("a = {}", "f(".repeat(300_000))), "E902", "more than 64 deep");
}

#[test]
fn operators_of_an_expression() {
    over(&row(&format!("a = b{}", " + b".repeat(200_000))), "E902", "at most 128 operators");
    over(&row(&format!("a = b{}", "[0]".repeat(200_000))), "E902", "at most 128 operators");
    over(&machine(&format!("view v = a{}\n", " ++ a".repeat(150_000))), "E902", "at most 128 operators");
    over(&machine(&format!("examples {{\n x : -> a = 1{}\n}}", "+1".repeat(150_000))), "E902", "at most 128 operators");
    fine(&row(&format!("a = b{}", " + b".repeat(limits::OPERATORS))));
}

/// The deepest nesting that is allowed, with the stack of an ordinary thread.
#[test]
fn nesting_after_functions_are_put_in_place() {
    let mut functions = String::from("fn f0(x: u8) -> u8 { x + 1 }\n");
    for n in 1..60 {
        let inner = format!("{}f{}(x){}", "(1 + ".repeat(18), n - 1, ")".repeat(18));
        functions += &format!("fn f{n}(x: u8) -> u8 {{ {inner} }}\n");
    }
    over(&(row("a = f59(a)") + &functions), "E902", "more than 136 deep once functions are put in place");
    fine(&(row("a = f6(a)") + &functions));
    let mut calls = String::from("fn f0(x: u8) -> u8 { x }\n");
    (1..70).for_each(|n| calls += &format!("fn f{n}(x: u8) -> u8 {{ f{}(x) }}\n", n - 1));
    over(&(row("a = f69(a)") + &calls), "E902", "nest more than 64 deep");
    let blocks = format!("{}a = b{}", "if b[0] { ".repeat(50), " }".repeat(50));
    let mut nested = format!("fn f0() {{ {blocks} }}\n");
    (1..30).for_each(|n| nested += &format!("fn f{n}() {{ {} }}\n", blocks.replace("a = b", &format!("f{}()", n - 1))));
    over(&(row("f29()") + &nested), "E902", "more than 136 deep");
}

#[test]
fn parts_of_a_meaning() {
    let mut doubling = String::from("fn f0(x: u8) -> u8 { x + x }\n");
    (1..64).for_each(|n| doubling += &format!("fn f{n}(x: u8) -> u8 {{ f{0}(f{0}(x)) }}\n", n - 1));
    over(&(row("a = f60(pc)") + &doubling), "E903", "more than 20000 parts");
    let mut nested = "pc".to_owned();
    (0..20).for_each(|_| nested = format!("f({nested})"));
    let squares = "fn f(x: u8) -> u8 { x * x }\n";
    fine(&(row(&format!("a = {nested}; b = a")) + squares));
    let effects = "fn g0() { a = b }\n".to_owned()
        + &(1..64).map(|n| format!("fn g{n}() {{ g{0}(); g{0}() }}\n", n - 1)).collect::<String>();
    over(&(row("g60()") + &effects), "E903", "more than 20000 parts");
    let thousand = list(1_000, |n| n.to_string());
    let loops = format!("for i in {{ {thousand} }} {{ ").repeat(6);
    over(&row(&format!("{loops} halt {}", "}".repeat(6))), "E903", "more than 20000 parts");
    over(&row(&format!("{loops} {}", "}".repeat(6))), "E903", "more than 20000 parts");
    let bits = "memory bits : u8 -> u1\nregister w : u64\n";
    let wide = (0..8_000).map(|_| "w = bits.u64[a]; ").collect::<String>();
    over(&(row(&wide) + bits), "E903", "more than 20000 parts");
}

#[test]
fn parts_of_all_meanings() {
    let family = format!("family OP : u10 {{\n{}}}\n", (0..1_000).map(|n| format!("m{n} = f()\n")).collect::<String>());
    let heavy = format!("fn f() {{ {} }}\n", "a = b + 1; ".repeat(3_000));
    let rows = "instructions {\n  {OP} | 000000 {OP} | OP()\n}\n";
    over(&machine(&(family + &heavy + rows)), "E903", "more than 4000000 parts together");
}

#[test]
fn instructions() {
    let members = |name: &str| (0..1_000).map(|n| format!("{name}{n} = a = b\n")).collect::<String>();
    let families = format!("family P : u10 {{\n{}}}\nfamily Q : u10 {{\n{}}}\n", members("p"), members("q"));
    let crossed = "instructions {\n  {P}{Q} | 0000 {P} {Q} | P()\n}\n";
    over(&machine(&(families + crossed)), "E903", "more than 16384 instructions");
    let rows: String = (0..30_000).map(|n| format!("r{n} | {n:016b} | a = b\n")).collect();
    over(&machine(&format!("instructions {{\n{rows}}}\n")), "E903", "more than 16384 instructions");
    let same: String = (0..60_000).map(|_| "r | 00000000 |\n").collect();
    over(&machine(&format!("instructions {{\n{same}}}\n")), "E401", "belongs to both");
    let alike: String = (0..16_000).map(|n| format!("r | {n:016b} |\n")).collect();
    over(&machine(&format!("instructions {{\n{alike}}}\n")), "E409", "same syntax as another row");
}

#[test]
fn bits_of_an_instruction() {
    over(&machine(&format!("instructions {{\n  x | {} |\n}}\n", "0".repeat(136))), "E901", "at most 128 bits");
    let wide = "field W : u64\ninstructions {\n  x W | {W}{W}{W}{W}{W} |\n}\n";
    over(&machine(wide), "E901", "at most 128 bits");
    let picture = format!("field W : u64\ninstructions {{\n  x W | {} |\n}}\n", "{W}".repeat(300_000));
    over(&machine(&picture), "E901", "at most 1024 bytes");
    assert!(survive(&machine(&format!("instructions {{\n  x | {} |\n}}\n", "0".repeat(128))), 1).len() <= 2);
}

#[test]
fn bytes_of_a_column() {
    let long = format!("instructions {{\n  x {} | 0000 0000 |\n}}\n", "y ".repeat(2_000));
    over(&machine(&long), "E901", "a column has at most 1024 bytes");
    let spellings = format!("instructions {{\n  x{} | 0000 0000 |\n}}\n", "/y".repeat(200_000));
    over(&machine(&spellings), "E901", "a column has at most 1024 bytes");
    let documented = format!("instructions {{\n{}  x | 0000 0000 |\n}}\n", "## a line\n".repeat(50_000));
    over(&machine(&documented), "E901", "more than 8192 bytes");
}

#[test]
fn names_and_lists() {
    over(&machine("register r0..r4000000000 : u8\n"), "E903", "at most 1024 names");
    over(&machine("field F : u64 in { 0..4000000000 }\n"), "E903", "at most 1024 values");
    over(
        &machine("field F : s64 in { 0..-1, -0x8000000000000000..0x7FFFFFFFFFFFFFFF }\n"),
        "E903",
        "at most 1024 values",
    );
    over(&machine("register r4294967295..r4294967294 : u8\n"), "E206", "no instructions");
    over(&machine("register r0..r99999999999999999999 : u8\n"), "E204", "end in a number");
    let ranges = list(30_000, |n| format!("x{n}y0..x{n}y999"));
    over(&machine(&format!("register {ranges} : u8\n")), "E903", "more than 4096 names");
    over(&machine(&format!("register {} : u8\n", list(90_000, |n| format!("x{n}")))), "E903", "more than 4096 names");
    over(
        &machine(&format!(
            "register r0..r999 : u8\nfield F : register {{ {} }}\n",
            list(60_000, |_| "r0..r999".into())
        )),
        "E903",
        "at most 1024 names",
    );
    over(
        &machine(&format!("field F : register {{ {} }}\n", list(100_000, |_| "_".into()))),
        "E903",
        "at most 1024 names",
    );
    over(
        &machine(&format!("field F : enum {{ {} }}\n", list(90_000, |n| format!("e{n}")))),
        "E903",
        "at most 1024 names",
    );
    let members: String = (0..60_000).map(|n| format!("m{n} = halt\n")).collect();
    over(&machine(&format!("family F : u20 {{\n{members}}}\n")), "E903", "at most 1024 members");
    let fields =
        format!("register r0..r999 : u8\nfield {} : register {{ r0..r999 }}\n", list(3_000, |n| format!("F{n}")));
    over(&machine(&fields), "E903", "the fields have more than 262144 names together");
    over(
        &row(&format!("for r in {{ {} }} {{ a = 1 }}", list(60_000, |_| "r0..r999".into()))),
        "E903",
        "at most 1024 items",
    );
    let memories: String = (0..20).map(|n| format!("memory m{n} : u20 -> u64\n")).collect();
    over(&machine(&memories), "E903", "at most 16 memories");
}

#[test]
fn operands_conditions_and_rows() {
    let letter = |n: usize| char::from(b'A' + n as u8).to_string();
    let fields = format!("field {} : u1\n", list(17, letter));
    let picture: String = (0..17).map(letter).collect();
    let operands = format!("instructions {{\n  x {} | {picture}0000000 |\n}}\n", list(17, letter));
    over(&machine(&(fields + &operands)), "E903", "at most 16 operands");
    let conditions = list(65, |n| format!("A != {n}"));
    over(
        &machine(&format!("field A : u8\ninstructions {{\n  x A | AAAAAAAA where {conditions} |\n}}\n")),
        "E903",
        "at most 64 conditions",
    );
    let maps: String = (0..5_000).map(|n| format!("  {n} | 0 |\n")).collect();
    over(&machine(&format!("memory big : u16 -> u8\nmap big {{\n{maps}}}\n")), "E903", "4096 rows of mapped addresses");
    let start = row("a = b");
    over(
        &(start.clone() + &format!("examples {{\n{}}}\n", " x : -> a = 0\n".repeat(5_000))),
        "E903",
        "at most 4096 examples",
    );
    let pseudos: String = (0..5_000).map(|n| format!(" y{n} => x\n")).collect();
    over(&(start.clone() + &format!("pseudo {{\n{pseudos}}}\n")), "E903", "at most 4096 pseudo-instructions");
    over(&(start + &format!("pseudo {{\n y => {}\n}}\n", "x;".repeat(400_000))), "E903", "at most 64 instructions");
}

#[test]
fn sets_too_many_to_tell_apart() {
    let enumeration = |name: &str| {
        let values = list(1_000, |n| format!("{name}{n} = {}", (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        format!("field {} : enum {{ {values} }}\n", name.to_uppercase())
    };
    let rows = "instructions {\n  x A | 0{A[63:1]} {A[0]}0000000 |\n  y B | {B[63:1]}0 {B[0]}0000000 |\n}\n";
    let found = survive(&machine(&(enumeration("a") + &enumeration("b") + rows)), 1);
    assert!(!found.is_empty());
    let many: String = (0..6_000).map(|n| format!("  x{n} A | {n:064b} {{A}} |\n")).collect();
    over(&machine(&(enumeration("a") + &format!("instructions {{\n{many}}}\n"))), "E903", "parts together");
    let conditions = list(60, |n| format!("A != {}", 3 * n));
    let rows: String = (0..1_500).map(|n| format!("  x{n} A | {{A}} where {conditions} |\n")).collect();
    let found = survive(&machine(&format!("field A : u64\ninstructions {{\n{rows}}}\n")), 1);
    assert!(found.iter().any(|d| d.code.name == "E401"));
}

/// The largest definition that is allowed also decodes in good time: rows that differ in scattered bits.
#[test]
fn many_rows_with_scattered_bits() {
    let picture = |n: u64| -> String {
        let letters = (0..16).map(|bit| match (n * 7 + bit) % 3 {
            0 => '0',
            1 => '1',
            _ => '-',
        });
        letters.collect()
    };
    let rows: String = (0..16_000u64).map(|n| format!("  x{n} | {n:016b} {} |\n", picture(n))).collect();
    fine(&machine(&format!("instructions {{\n{rows}}}\n")));
    let loose: String =
        (0..9_000u64).map(|n| format!("  x{n} | {}{} |\n", "-".repeat(14), picture(n * n) + "00")).collect();
    survive(&machine(&format!("instructions {{\n{loose}}}\n")), 1);
    let one_hot: String = (0..127).map(|n| format!("  x{n} | {}1{} |\n", "0".repeat(n), "-".repeat(127 - n))).collect();
    fine(&machine(&format!("instructions {{\n{one_hot}}}\n")));
}

/// Numbers at the edges of what 64 bits hold.
#[test]
fn edges_of_numbers() {
    for (text, code) in [
        ("field E : enum { x = 0xFFFFFFFFFFFFFFFF, y }\n", "E303"),
        ("field E : enum { x = 9223372036854775808, y = -9223372036854775808 }\n", "E206"),
        ("field L : u64 align 9223372036854775808\n", "E206"),
        ("field L : u8 align 0\n", "E308"),
        ("field L : u1 align 1\n", "E206"),
        ("field L : u8 align -1\n", "E308"),
        ("register w : u99999999999999999999\n", "E104"),
        ("register w : u(0 - 1)\n", "E308"),
        ("register w : u(1 << 200)\n", "E309"),
        ("register w : u(1 / 0)\n", "E309"),
        ("register w = 1 << 64 : u64\n", "E303"),
        ("register w = -9223372036854775808 * 4611686018427387904 * 8 : u64\n", "E309"),
        ("register w = 0 - 9223372036854775808 : u64\n", "E206"),
        ("trap t = 18446744073709551615\n", "E206"),
        ("trap t = 18446744073709551616\n", "E102"),
        ("family F : u64 (x: u8) {\n big 18446744073709551615 = a = x\n more = a = x\n}\n", "E303"),
        ("view v = a[18446744073709551615:0]\n", "E304"),
        ("view v = a[0:18446744073709551615]\n", "E304"),
        ("memory m : u32 -> u64\n", "E206"),
        ("memory m : u64 -> u64\n", "E206"),
        ("memory m : u65 -> u64\n", "E308"),
        ("map ram {\n 0..255 | 0 |\n}\n", "E206"),
        ("map ram {\n 0..256 | 0 |\n}\n", "E303"),
    ] {
        let mut text = machine(text);
        let found = survive(&text, 1);
        // The second code is what such a definition gives before it has a row.
        assert!(found.iter().any(|d| d.code.name == code), "{text} {found:#?}");
        text += "instructions {\n  x | 0000 0000 | a = b\n}\n";
        survive(&text, 1);
    }
}

/// Values of 64 bits, shifted, joined and sliced at their edges, in constants and when run.
#[test]
fn edges_of_widths() {
    let meanings = [
        "w = w << 64; v = w >> 255; w = signed(v) >> 64",
        "w = 1 << 63; v = rotl(w, 64); w = rotr(v, 0xFFFFFFFFFFFFFFFF)",
        "w = w / 0; v = signed(w) / -1; w = signed(v) % 0",
        "w[63] = 1; w[63:0] = v; w[63:1] = v[62:0]",
        "wv = w ++ v",
        "x = w[63:32] ++ v[31:0]; x[0] = 1",
        "w = sext(w[63]); v = zext(v[0]); w = s64(v)",
        "w = ~0; v = -1; w = -v",
        "w = ram.u64[pc]; ram.u64[a] = v",
        "cycles + w; cycles + 0xFFFFFFFFFFFFFFFF; cycles + 0xFFFFFFFFFFFFFFFF",
        "w = bits.u64[a]; bits.u64[b] = ~w",
        "pc = pc - 1; pc[7:4] = b[3:0]",
        "fault \"x\", w",
        "for i, r in { w, v } { r[i] = 1; r = r + i }",
    ];
    let declared = "register w, v : u64\nmemory bits : u8 -> u1 little\nview x = w[31:0] ++ v[63:32]\n";
    for meaning in meanings {
        let text = row(meaning) + declared;
        let found = survive(&text, 7);
        let fine = meaning.starts_with("wv") || found.iter().all(|d| d.code.name.starts_with('W'));
        assert!(fine, "{meaning}: {found:#?}");
    }
}

/// The code of a mapped address can access memory, and so could reach itself.
#[test]
fn a_map_does_not_lead_to_itself() {
    let text = row("a = ram[0x80]; ram[0x80] = a; b = ram[0x90]")
        + "map ram {\n  0x80..0xFF | ram[address ^ 0x10] | ram[address ^ 0x10] = value\n}\n";
    fine(&text);
}

#[test]
fn long_names_and_many_of_them() {
    let long = "x".repeat(300_000);
    over(
        &machine(&format!("register {long}a : u8\ninstructions {{\n x | 0000 0000 | a = {long}b\n}}\n")),
        "E201",
        "nothing named",
    );
    let unknown: String = (0..60_000).map(|n| format!("a = q{n}; ")).collect();
    over(&row(&unknown), "E201", "nothing named");
    let known = format!("register {} : u8\n", list(4_000, |n| format!("name{n}")));
    let misspelt: String = (0..40_000).map(|n| format!("a = nmae{n}; ")).collect();
    over(&(row(&misspelt) + &known), "E201", "nothing named");
}

/// Returns words and punctuation of the language, in any order.
fn soup() -> impl Strategy<Value = String> {
    let words = "machine memory pc register constant view field device map trap fn family on illegal instructions \
                 pseudo examples as with cycles where little big low align address from back within next in at clearing \
                 enum stream bus let if else for skip halt fault signed unsigned zext sext rotl rotr ram a b D S N W \
                 m f x y u8 s16 u1 uK u(2*K) 0 1 7 255 0x1F 0b101 99999999999999999999 \"text\" \" { } ( ) [ ] , ; : . \
                 = < > + - * / % & | ^ ~ ! ? _ @ << >> <= >= == != && || ++ -> => .. # ## 0000 DDSS {W} {N[3:0]} é 字 $";
    let words: Vec<&'static str> = words.split_whitespace().collect();
    let word = prop_oneof![8 => prop::sample::select(words), 2 => Just("\n"), 1 => Just("\n  ")];
    prop::collection::vec(word, 0..200).prop_map(|words| words.join(" "))
}

/// Mutates a text: what, where, and where else.
fn mutated(mut text: String, kind: u8, at: usize, other: usize) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let (one, two) = (at % lines.len(), other % lines.len());
    match kind {
        0 => drop(lines.remove(one)),
        1 => lines.insert(two, lines[one]),
        2 => lines.swap(one, two),
        _ => {
            let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let (one, two) = (bounds[at % bounds.len()], bounds[other % bounds.len()]);
            let (low, high) = (one.min(two), one.max(two));
            let strange =
                ["{", "}", "|", "\n", "(", "\"", "#", "é", "0", "++", " ", "[", "where ", "=>", ";", "9", "D"];
            match kind {
                3 => drop(text.remove(one)),
                4 => text.insert_str(one, strange[other % strange.len()]),
                5 => text.replace_range(low..high.min(low + 40).max(low), ""),
                6 => text.truncate(one),
                _ => text.insert_str(two, &text[low..high].chars().take(60).collect::<String>()),
            }
            return text;
        }
    }
    lines.join("\n")
}

fn definitions() -> Vec<String> {
    lathe_machines::ALL.iter().map(|machine| machine.definition.to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&String::from_utf8_lossy(&bytes), 1);
    }

    #[test]
    fn random_characters(text in "\\PC{0,300}") {
        survive(&text, 1);
        survive(&row(&text), 1);
    }

    #[test]
    fn random_tokens(text in soup()) {
        survive(&text, 1);
        survive(&machine(&text), 1);
    }

    #[test]
    fn random_meanings(text in soup()) {
        survive(&row(&text.replace('\n', " ")), 1);
    }

    #[test]
    fn mutations(
        which in 0..5usize,
        changes in prop::collection::vec((0..8u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
        seed in any::<u64>(),
    ) {
        let mut text = definitions().swap_remove(which);
        for (kind, at, other) in changes {
            if !text.is_empty() {
                let length = text.len();
                text = mutated(text, kind, at.index(length), other.index(length));
            }
        }
        survive(&text, seed);
    }
}

/// The definitions themselves, and each with any one line missing.
#[test]
fn a_line_less() {
    for text in definitions() {
        assert!(survive(&text, 3).is_empty());
        for line in 0..text.lines().count() {
            let rest: Vec<&str> =
                text.lines().enumerate().filter(|(at, _)| *at != line).map(|(_, line)| line).collect();
            survive(&rest.join("\n"), 3);
        }
    }
}
