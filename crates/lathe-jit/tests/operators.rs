//! Every operator on all operands of small widths, lowered by the fast interpreter and compiled: on registers, with a
//! constant on either side, and as the condition of a jump. `examples/in_wasm.rs` does the same in WebAssembly.

use std::sync::Arc;

use lathe_base::Width;
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, State};

/// Widths for which all operands are tried.
const WIDTHS: [u64; 4] = [1, 2, 3, 4];
/// Where the jump leads.
const TARGET: u64 = 0x40;

/// Returns an operation as it is written in a definition.
fn text(operator: BinaryOperator, x: &str, y: &str) -> String {
    use BinaryOperator::*;
    let infix = |operator: &str| format!("{x} {operator} {y}");
    let signed = |operator: &str| format!("signed({x}) {operator} signed({y})");
    match operator {
        Add => infix("+"),
        Subtract => infix("-"),
        Multiply => infix("*"),
        Divide => infix("/"),
        DivideSigned => signed("/"),
        Remainder => infix("%"),
        RemainderSigned => signed("%"),
        And => infix("&"),
        Or => infix("|"),
        Xor => infix("^"),
        ShiftLeft => infix("<<"),
        ShiftRight => infix(">>"),
        ShiftRightSigned => format!("signed({x}) >> {y}"),
        RotateLeft => format!("rotl({x}, {y})"),
        RotateRight => format!("rotr({x}, {y})"),
        Equal => infix("=="),
        Unequal => infix("!="),
        Less => infix("<"),
        LessOrEqual => infix("<="),
        LessSigned => signed("<"),
        LessOrEqualSigned => signed("<="),
    }
}

/// Makes a machine with an operation on its registers `a` and `b`, or on one of them and a number.
fn machine(width: u64, result: u64, operation: impl Fn(&str, &str) -> String) -> Arc<Isa> {
    let number = format!("{}{}", "0".repeat(8 - width as usize), "N".repeat(width as usize));
    let [both, right, left] = [operation("a", "b"), operation("a", "N"), operation("N", "b")];
    let text = format!(
        r#"
machine one "One operator"
memory ram : u10 -> u8
pc pc : u10 in ram
register a, b : u{width}
register r : u{result}
field N : u{width}
instructions {{
  both    | 0000 0001          | r = {both}
  right N | 0000 0010 {number} | r = {right}
  left N  | 0000 0011 {number} | r = {left}
  jump    | 0000 0100          | if ({both}) != 0 {{ pc = {TARGET} }}
}}
"#
    );
    let loaded = lathe_isa::load(&text);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics)))
}

/// Where the instructions are: one for every number, so that each is compiled once.
const BOTH: u64 = 0x10;
const JUMP: u64 = 0x20;
const RIGHT: u64 = 0x100;
const LEFT: u64 = 0x200;

/// Returns a machine with all instructions in memory.
fn program(isa: &Arc<Isa>, width: Width) -> State {
    let mut state = State::new(isa);
    let ram = state.memory_mut(isa.pc.memory);
    ram.set(BOTH, 1);
    ram.set(JUMP, 4);
    for (first, code) in [(RIGHT, 2), (LEFT, 3)] {
        for number in 0..=width.mask() {
            ram.set(first + 2 * number, code);
            ram.set(first + 2 * number + 1, number);
        }
    }
    state
}

/// Checks what the engine computes for all operands.
fn check(isa: &Arc<Isa>, width: Width, engine: &mut dyn Engine, name: &str, expected: impl Fn(u64, u64) -> u64) {
    let mut state = program(isa, width);
    let mut devices = Devices::new(isa, Console::default());
    let all = 0..=width.mask();
    for (x, y) in all.clone().flat_map(|x| all.clone().map(move |y| (x, y))) {
        let result = expected(x, y);
        for address in [BOTH, JUMP, RIGHT + 2 * y, LEFT + 2 * x] {
            state.registers_mut()[..2].copy_from_slice(&[x, y]);
            state.pc = address;
            engine.run(&mut state, &mut devices, 1);
            if address == JUMP {
                assert_eq!(state.pc == TARGET, result != 0, "{name}: a jump on {x}, {y}, {width:?}");
            } else {
                assert_eq!(state.registers()[2], result, "{name}: {x}, {y}, {width:?}, at {address:#x}");
            }
        }
    }
}

fn check_on_all(isa: &Arc<Isa>, width: Width, name: &str, expected: impl Fn(u64, u64) -> u64) {
    check(isa, width, &mut Fast::stepping(isa), &format!("{name} on fast"), &expected);
    let mut jit = Jit::stepping(isa);
    check(isa, width, &mut jit, &format!("{name} on jit"), &expected);
    assert!(jit.statistics().steps > 0, "{name} is compiled");
}

#[cfg_attr(test, test)]
pub(crate) fn operators_with_two_operands() {
    for (operator, bits) in
        BinaryOperator::ALL.into_iter().flat_map(|operator| WIDTHS.map(move |bits| (operator, bits)))
    {
        let width = Width::new(bits).expect("a width");
        let result = if operator.is_comparison() { 1 } else { bits };
        let isa = machine(bits, result, |x, y| text(operator, x, y));
        check_on_all(&isa, width, &format!("{operator:?}"), |x, y| operator.apply(width, x, y));
    }
}

#[cfg_attr(test, test)]
pub(crate) fn operators_with_one_operand() {
    for (operator, bits) in UnaryOperator::ALL.into_iter().flat_map(|operator| WIDTHS.map(move |bits| (operator, bits)))
    {
        let width = Width::new(bits).expect("a width");
        let sign = if operator == UnaryOperator::Not { "~" } else { "-" };
        // The second operand is there so that the first can be on either side.
        let isa = machine(bits, bits, |x, y| format!("({sign}{x}) ^ {y}"));
        check_on_all(&isa, width, &format!("{operator:?}"), |x, y| operator.apply(width, x) ^ y);
    }
}
