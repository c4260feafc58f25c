//! Values of more than 64 bits against the host's 128-bit numbers: every operator, then generated meanings, then the
//! products of a machine. `LATHE_STATES` and `LATHE_SEED` set how many and which.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lathe_base::Source;
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_jit::Jit;
use lathe_tests::random::Random;
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

const MACHINE: &str = r#"
machine wide "Registers to be joined"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b, c, d : u64
register n : u8
instructions {
  nop | 0000 0000 | a = b; b = a; c = d; d = c; n = n + 1; pc = n
}
"#;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

fn set(isa: &Isa, state: &mut State, name: &str, value: u64) {
    state.set_place(isa, &isa.place_named(name).expect("a register"), value);
}

fn get(isa: &Isa, state: &State, name: &str) -> u64 {
    state.place(&isa.place_named(name).expect("a register"))
}

/// Returns the low bits of a number, with zeros above.
fn low(value: u128, bits: u32) -> u128 {
    value & (u128::MAX >> (128 - bits))
}

/// Returns the number that these bits are in two's complement.
fn signed(value: u128, bits: u32) -> i128 {
    ((value << (128 - bits)) as i128) >> (128 - bits)
}

/// Returns a value of this width: often near an edge of the width, of half of it, or of 64 bits.
fn value(random: &mut Random, bits: u32) -> u128 {
    let any = u128::from(random.number()) << 64 | u128::from(random.number());
    let edge = (*random.pick(&[0, 1, 31, 32, 33, 63, 64, 65, 127])).min(bits - 1);
    let near = (1u128 << edge).wrapping_add(u128::from(random.below(5))).wrapping_sub(2);
    let (small, large) = (any >> random.below(128), any << random.below(128));
    low(*random.pick(&[any, any, near, near.wrapping_neg(), small, large]), bits)
}

/// An operator as it is written with `x` and `y`, and its result for values of a width; for operators with a count, `y`
/// has a width of its own.
type Operator = (&'static str, fn(u128, u128, u32) -> u128);

const SAME: [Operator; 20] = [
    ("x + y", |x, y, _| x.wrapping_add(y)),
    ("x - y", |x, y, _| x.wrapping_sub(y)),
    ("x * y", |x, y, _| x.wrapping_mul(y)),
    ("x & y", |x, y, _| x & y),
    ("x | y", |x, y, _| x | y),
    ("x ^ y", |x, y, _| x ^ y),
    ("~x", |x, _, _| !x),
    ("-x", |x, _, _| x.wrapping_neg()),
    ("x == y", |x, y, _| u128::from(x == y)),
    ("x != y", |x, y, _| u128::from(x != y)),
    ("x < y", |x, y, _| u128::from(x < y)),
    ("x <= y", |x, y, _| u128::from(x <= y)),
    ("x > y", |x, y, _| u128::from(x > y)),
    ("x >= y", |x, y, _| u128::from(x >= y)),
    ("signed(x) < signed(y)", |x, y, bits| u128::from(signed(x, bits) < signed(y, bits))),
    ("signed(x) <= signed(y)", |x, y, bits| u128::from(signed(x, bits) <= signed(y, bits))),
    ("signed(x) > signed(y)", |x, y, bits| u128::from(signed(x, bits) > signed(y, bits))),
    ("signed(x) >= signed(y)", |x, y, bits| u128::from(signed(x, bits) >= signed(y, bits))),
    ("x < y ? x : y", |x, y, _| x.min(y)),
    ("x * 1 + 0 - 0 << 0", |x, _, _| x),
];

const COUNTED: [Operator; 5] = [
    ("x << y", |x, y, bits| if y < u128::from(bits) { x << y } else { 0 }),
    ("x >> y", |x, y, bits| if y < u128::from(bits) { x >> y } else { 0 }),
    ("signed(x) >> y", |x, y, bits| (signed(x, bits) >> y.min(127)) as u128),
    ("rotl(x, y)", |x, y, bits| rotated(x, y % u128::from(bits), bits)),
    ("rotr(x, y)", |x, y, bits| rotated(x, (u128::from(bits) - y % u128::from(bits)) % u128::from(bits), bits)),
];

fn rotated(x: u128, left: u128, bits: u32) -> u128 {
    if left == 0 { x } else { x << left | x >> (u128::from(bits) - left) }
}

/// Declares `x` and `y`: two registers each, joined and cut.
fn declared(x: u32, y: u32) -> String {
    format!("let x : u{x} = (a ++ b)[{}:0]; let y : u{y} = (c ++ d)[{}:0]; ", x - 1, y - 1)
}

/// Evaluates an operator in several states and compares.
fn check_operator(isa: &Arc<Isa>, (text, expected): Operator, x: u32, y: u32, random: &mut Random, states: u64) {
    let is_comparison =
        text.contains(['=', '<', '>']) && !text.contains("<<") && !text.contains(">>") && !text.contains('?');
    let result = if is_comparison { 1 } else { x };
    let whole = format!("{}let z : u{result} = {text}; a ++ b = zext(z, 128)", declared(x, y));
    let body = isa.compile_statements(&whole, &()).unwrap_or_else(|found| panic!("{whole}: {found:?}"));
    for _ in 0..states {
        let (left, mut right) = (value(random, x), value(random, y));
        if random.once_in(2) {
            right = low(u128::from(random.below(140)), y);
        } else if random.once_in(4) {
            right = low(left.wrapping_add(u128::from(random.below(3))).wrapping_sub(1), y);
        }
        let mut state = State::new(isa);
        // The bits cut off exist, and must not matter.
        let (above, beyond) = (random.number(), random.number());
        let fill = |value: u128, bits: u32, above: u64| value | (u128::from(above) << 64) & !low(u128::MAX, bits);
        let (joined, other) = (fill(left, x, above), fill(right, y, beyond));
        for (name, value) in [("a", joined >> 64), ("b", joined), ("c", other >> 64), ("d", other)] {
            set(isa, &mut state, name, value as u64);
        }
        let mut devices = Devices::new(isa, Console::default());
        Interpreter::new(isa).evaluate(&body, &mut state, &mut devices).expect("no fault");
        let found = u128::from(get(isa, &state, "a")) << 64 | u128::from(get(isa, &state, "b"));
        let expected = low(expected(left, right, x), result);
        assert_eq!(found, expected, "{text} with x = {left:#x} of {x} bits, y = {right:#x} of {y} bits");
    }
}

#[test]
fn every_operator() {
    let isa = isa();
    let (states, seed) = (number("LATHE_STATES", 60), number("LATHE_SEED", 1));
    println!("{states} states for each operator and width from seed {seed}");
    let mut random = Random(seed);
    for bits in [1, 31, 32, 33, 63, 64, 65, 66, 80, 95, 96, 97, 120, 126, 127, 128] {
        for operator in SAME {
            check_operator(&isa, operator, bits, bits, &mut random, states);
        }
        for operator in COUNTED {
            for count in [1, 5, 6, 7, 8, 32, 64, 65, 100, 128] {
                check_operator(&isa, operator, bits, count, &mut random, states);
            }
        }
    }
}

/// Shifts and rotations by constants, which are evaluated when the definition is read.
#[test]
fn counts_that_are_numbers() {
    let isa = isa();
    let mut random = Random(number("LATHE_SEED", 1));
    for bits in [65, 100, 128] {
        for count in (0..130).chain([1 << 32, u64::MAX]) {
            for (text, expected) in COUNTED {
                let text = text.replace('y', &format!("{count}"));
                let whole = format!("{}let z : u{bits} = {text}; a ++ b = zext(z, 128)", declared(bits, 64));
                let body = isa.compile_statements(&whole, &()).unwrap_or_else(|found| panic!("{whole}: {found:?}"));
                let x = value(&mut random, bits);
                let mut state = State::new(&isa);
                set(&isa, &mut state, "a", (x >> 64) as u64);
                set(&isa, &mut state, "b", x as u64);
                let mut devices = Devices::new(&isa, Console::default());
                Interpreter::new(&isa).evaluate(&body, &mut state, &mut devices).expect("no fault");
                let found = u128::from(get(&isa, &state, "a")) << 64 | u128::from(get(&isa, &state, "b"));
                assert_eq!(found, low(expected(x, u128::from(count), bits), bits), "{text}: x = {x:#x} of {bits} bits");
            }
        }
    }
}

/// Statements that are written and evaluated at the same time, in one state.
struct Program {
    random: Random,
    text: String,
    /// Variables and registers with their widths and contents.
    known: Vec<(String, u32, u128)>,
    variables: usize,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut random = Random(seed ^ 0x5DEE_CE66_D015_F00D);
        let known = [("a", 64), ("b", 64), ("c", 64), ("d", 64), ("n", 8)];
        let known = known.map(|(name, bits)| (name.to_owned(), bits, value(&mut random, bits))).into();
        Program { random, text: String::new(), known, variables: 0 }
    }

    fn any(&mut self) -> (String, u32, u128) {
        self.random.pick(&self.known).clone()
    }

    /// Returns an expression of this width with its value.
    fn of(&mut self, bits: u32, depth: u32) -> (String, u128) {
        let (name, own, held) = self.any();
        if own == bits && self.random.once_in(2) {
            return (name, held);
        }
        if own > bits {
            let at = self.random.below(u64::from(own - bits) + 1) as u32;
            return (format!("{name}[{}:{at}]", at + bits - 1), low(held >> at, bits));
        }
        if depth == 0 || self.random.once_in(6) {
            if self.random.once_in(3) {
                let value = value(&mut self.random, bits.min(64)) as u64;
                return (format!("u{bits}({value})"), u128::from(value));
            }
            return match self.random.once_in(2) {
                true => (format!("u{bits}({name})"), held),
                false => (format!("unsigned(s{bits}({name}))"), low(signed(held, own) as u128, bits)),
            };
        }
        let depth = depth - 1;
        match self.random.below(6) {
            0 if own < bits => {
                let (high, above) = self.of(bits - own, depth);
                (format!("({high} ++ {name})"), above << own | held)
            }
            1 => {
                let ((condition, holds), (x, first), (y, second)) =
                    (self.truth(depth), self.of(bits, depth), self.of(bits, depth));
                (format!("({condition} ? {x} : {y})"), if holds { first } else { second })
            }
            2 => {
                let (text, apply) = *self.random.pick(&COUNTED);
                let width = *self.random.pick(&[3, 6, 8, 64, 70, 128]);
                let ((x, value), (y, count)) = (self.of(bits, depth), self.of(width, depth));
                let text = text.replace('y', "#").replace('x', &x).replace('#', &y);
                (format!("unsigned({text})"), low(apply(value, count, bits), bits))
            }
            _ => {
                // Operators whose result has the same width.
                let (text, apply) = SAME[self.random.below(8) as usize];
                let ((x, first), (y, second)) = (self.of(bits, depth), self.of(bits, depth));
                let text = text.replace('y', "#").replace('x', &x).replace('#', &y);
                (format!("({text})"), low(apply(first, second, bits), bits))
            }
        }
    }

    fn truth(&mut self, depth: u32) -> (String, bool) {
        let bits = self.bits();
        let (text, apply) = SAME[8 + self.random.below(10) as usize];
        let ((x, first), (y, second)) = (self.of(bits, depth), self.of(bits, depth));
        let text = text.replace('y', "#").replace('x', &x).replace('#', &y);
        (format!("({text})"), apply(first, second, bits) == 1)
    }

    fn bits(&mut self) -> u32 {
        match self.random.below(3) {
            0 => *self.random.pick(&[1, 8, 33, 64]),
            1 => *self.random.pick(&[65, 96, 127, 128]),
            _ => self.random.within(1..129) as u32,
        }
    }

    fn statement(&mut self) {
        let at = self.random.below(self.known.len() as u64) as usize;
        let (name, bits, held) = self.known[at].clone();
        match self.random.below(5) {
            0 => {
                let (text, value) = self.of(bits, 3);
                let _ = write!(self.text, "{name} = {text}; ");
                self.known[at].2 = value;
            }
            1 => {
                let part = self.random.within(1..u64::from(bits) + 1) as u32;
                let from = self.random.below(u64::from(bits - part) + 1) as u32;
                let (text, value) = self.of(part, 3);
                let _ = write!(self.text, "{name}[{}:{from}] = {text}; ", from + part - 1);
                self.known[at].2 = held & !(low(u128::MAX, part) << from) | value << from;
            }
            2 => {
                let (condition, holds) = self.truth(2);
                let (text, value) = self.of(bits, 3);
                let _ = write!(self.text, "if {condition} {{ {name} = {text} }}; ");
                self.known[at].2 = if holds { value } else { held };
            }
            _ => {
                let bits = self.bits();
                let (text, value) = self.of(bits, 3);
                self.variables += 1;
                let name = format!("t{}", self.variables);
                let _ = write!(self.text, "let {name} : u{bits} = {text}; ");
                self.known.push((name, bits, value));
            }
        }
    }
}

#[test]
fn generated_meanings() {
    let isa = isa();
    let (programs, seed) = (number("LATHE_STATES", 60) * 20, number("LATHE_SEED", 1));
    println!("{programs} meanings from seed {seed}");
    for seed in seed..seed + programs {
        let mut program = Program::new(seed);
        let mut state = State::new(&isa);
        program.known.iter().for_each(|(name, _, value)| set(&isa, &mut state, name, *value as u64));
        (0..8).for_each(|_| program.statement());
        // The contents of variables become visible in registers; those of more than 64 bits in two.
        let (name, bits, held) = program.any();
        let _ = write!(program.text, "a ++ b = zext({name}, 128)");
        let text = &program.text;
        let body = isa.compile_statements(text, &()).unwrap_or_else(|found| panic!("seed {seed}: {text}\n{found:?}"));
        let mut devices = Devices::new(&isa, Console::default());
        Interpreter::new(&isa).evaluate(&body, &mut state, &mut devices).expect("no fault");
        let found = u128::from(get(&isa, &state, "a")) << 64 | u128::from(get(&isa, &state, "b"));
        assert_eq!(found, held, "seed {seed}: {name} of {bits} bits in {text}");
        for (name, _, value) in program.known.iter().filter(|(name, ..)| ["c", "d", "n"].contains(&name.as_str())) {
            assert_eq!(u128::from(get(&isa, &state, name)), *value, "seed {seed}: {name} in {text}");
        }
    }
}

/// Values are computed once and in order, however wide they are.
#[test]
fn effects_happen_once_and_in_order() {
    let text = r#"
machine counted "Functions with effects"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b, n : u64
fn more() -> u128 { n = n + 1; u128(n) << 64 | 5 }
instructions {
  sum  | 0000 0001 | a ++ b = more() * 2 + more()
  pick | 0000 0010 | a ++ b = n == 0 ? more() : more() + more()
  old  | 0000 0011 | a ++ b = (n ++ n) + more()
  self | 0000 0100 | let x : u128 = a ++ b; x = x[63:0] ++ x[127:64]; a ++ b = x
}
examples {
  sum  : -> a = 4, b = 15, n = 2
  pick : -> a = 1, b = 5, n = 1
  pick : n = 1 -> a = 5, b = 10, n = 3
  old  : n = 7 -> a = 15, b = 12, n = 8
  self : a = 1, b = 2 -> a = 2, b = 1
}
"#;
    let loaded = lathe_isa::load(text);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let failed = lathe_vm::examples::check(&isa);
    assert!(failed.is_empty(), "{failed:#?}");
}

fn rv64im() -> Arc<Isa> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("machines/rv64im.isa");
    let source = Source::new("rv64im.isa", fs::read_to_string(path).expect("the definition is there"));
    let loaded = lathe_isa::load_with(source, &lathe_machines::Shipped);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let failed = lathe_vm::examples::check(&isa);
    assert!(failed.is_empty(), "{failed:#?}");
    isa
}

/// What an instruction of rv64im leaves in D and in a0, given D, a0, S and T.
type Row = (&'static str, fn([u64; 4]) -> (u64, u64));

const ROWS: [Row; 12] = [
    ("mul", |[_, a0, s, t]| (s.wrapping_mul(t), a0)),
    ("mulh", |[_, a0, s, t]| (((i128::from(s as i64) * i128::from(t as i64)) >> 64) as u64, a0)),
    ("mulhsu", |[_, a0, s, t]| ((i128::from(s as i64).wrapping_mul(i128::from(t)) >> 64) as u64, a0)),
    ("mulhu", |[_, a0, s, t]| (((u128::from(s) * u128::from(t)) >> 64) as u64, a0)),
    ("div", |[_, a0, s, t]| (if t == 0 { u64::MAX } else { (s as i64).wrapping_div(t as i64) as u64 }, a0)),
    ("divu", |[_, a0, s, t]| (s.checked_div(t).unwrap_or(u64::MAX), a0)),
    ("rem", |[_, a0, s, t]| (if t == 0 { s } else { (s as i64).wrapping_rem(t as i64) as u64 }, a0)),
    ("remu", |[_, a0, s, t]| (s.checked_rem(t).unwrap_or(s), a0)),
    ("macu", |[d, a0, s, t]| {
        let sum = (u128::from(d) << 64 | u128::from(a0)).wrapping_add(u128::from(s) * u128::from(t));
        ((sum >> 64) as u64, sum as u64)
    }),
    ("shrd", |[d, a0, s, t]| {
        let both = u128::from(d) << 64 | u128::from(s);
        (u32::try_from(t).ok().and_then(|count| both.checked_shr(count)).unwrap_or(0) as u64, a0)
    }),
    ("addc", |[_, a0, s, t]| (u64::from(s.checked_add(t).is_none()), a0)),
    ("addv", |[_, a0, s, t]| (u64::from((s as i64).checked_add(t as i64).is_none()), a0)),
];

/// Every product of rv64im on every engine, with operands at all edges and others.
#[test]
fn products_of_a_machine() {
    let isa = rv64im();
    let seed = number("LATHE_SEED", 1);
    println!("from seed {seed}");
    let mut random = Random(seed);
    let mut engines: [(&str, Box<dyn Engine>); 3] = [
        ("interp", Box::new(Interpreter::new(&isa))),
        ("fast", Box::new(Fast::eager(&isa))),
        ("jit", Box::new(Jit::with_threshold(&isa, 1))),
    ];
    let edges: Vec<u64> =
        [0, 1, 2, 63, 64, 65, 128, 1 << 31, 1 << 32, 1 << 63, u64::MAX >> 1, u64::MAX, u64::MAX << 32]
            .into_iter()
            .chain((0..4).map(|_| random.number()))
            .collect();
    for (mnemonic, expected) in ROWS {
        let row = isa.instructions.iter().find(|row| row.syntax.mnemonic() == mnemonic).expect("a row");
        // D is x5, S is x6, T is x7.
        let code: Vec<u64> = cells(row.encoding.encode(&[5, 6, 7]), isa.code_memory().cell).take(4).collect();
        // A jump back, so that there is a loop to compile.
        let jump = isa.instructions.iter().find(|row| row.syntax.mnemonic() == "jal").expect("a row");
        let back: Vec<u64> =
            cells(jump.encoding.encode(&[0, (-4i64) as u64]), isa.code_memory().cell).take(4).collect();
        for s in &edges {
            for t in &edges {
                let (d, a0) = (*random.pick(&edges), *random.pick(&edges));
                let (wanted_d, wanted_a0) = expected([d, a0, *s, *t]);
                for (engine, runner) in &mut engines {
                    let mut state = State::new(&isa);
                    state.memory_mut(isa.pc.memory).fill(code.iter().chain(&back).copied());
                    for (name, value) in [("x5", d), ("x10", a0), ("x6", *s), ("x7", *t)] {
                        set(&isa, &mut state, name, value);
                    }
                    let mut devices = Devices::new(&isa, Console::default());
                    runner.run(&mut state, &mut devices, 2);
                    let found = (get(&isa, &state, "x5"), get(&isa, &state, "x10"));
                    assert_eq!(
                        found,
                        (wanted_d, wanted_a0),
                        "{engine}: {mnemonic} with D = {d:#x}, a0 = {a0:#x}, S = {s:#x}, T = {t:#x}"
                    );
                }
            }
        }
    }
}
