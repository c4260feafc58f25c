//! The decoder: from an instruction's bits to its number.

use lathe_isa::Isa;
use lathe_isa::encoding::Cube;
use lathe_isa::model::InstructionId;

use crate::expression::{number, range};
use crate::names::Names;
use crate::shape::Shape;
use crate::writer::Writer;

/// The decoder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decode {
    /// The width of a number.
    bits: u32,
    /// The width of the bits that it examines.
    window: u32,
    rows: Vec<Row>,
}

/// A row of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// The declaration of its number.
    number: String,
    /// A `case` arm with its bits and its number, if no encodings are excluded.
    pattern: Option<String>,
    /// An `if` with the same, if some are.
    test: Option<String>,
}

impl Decode {
    /// Creates the decoder. `numbers` has each instruction's number in parts, from the highest bits down, and `parts`
    /// the widths of these parts.
    pub(crate) fn new(isa: &Isa, names: &Names, parts: &[u32], numbers: &[Vec<u64>]) -> Decode {
        let (window, cell) = (Shape::window_bits(isa), isa.code_memory().cell.bits());
        let bits = parts.iter().sum();
        let row = |(at, numbers): (u32, &Vec<u64>)| {
            let id = InstructionId(at);
            let (name, encoding) = (names.instruction(id), &isa.instruction(id).encoding);
            let (fixed, is_whole) = (encoding.fixed, encoding.excluded.is_empty());
            let excluded = encoding.excluded.iter().map(|cube| format!(" && !({})", test(*cube, window)));
            let number = format!("localparam {}{name} = {};", range(bits), joined(parts, numbers));
            let pattern = || format!("{}: instruction = {name};", pattern(fixed, window, cell));
            let test = || format!("if ({}{}) instruction = {name};", test(fixed, window), excluded.collect::<String>());
            Row { number, pattern: is_whole.then(pattern), test: (!is_whole).then(test) }
        };
        let rows = (0..).zip(numbers).map(row).collect();
        Decode { bits, window, rows }
    }

    /// Returns the decoder of all rows.
    pub(crate) fn whole(&self) -> String {
        self.of(&self.rows)
    }

    /// Returns the decoder of one row, or of none.
    pub(crate) fn row(&self, at: usize) -> String {
        self.of(self.rows.get(at).map_or(&[], std::slice::from_ref))
    }

    /// Returns the whole decoder as a module of its own.
    pub(crate) fn module(&self, name: &str) -> String {
        let ports = format!("input wire {}window, output reg {}instruction", range(self.window), range(self.bits));
        format!("module {name} ({ports});\n{}endmodule\n", self.whole())
    }

    /// Returns the decoder of some rows. They are disjoint, so their order does not matter.
    fn of(&self, rows: &[Row]) -> String {
        let mut out = Writer::at(1);
        out.line(format!("localparam {}ILLEGAL = {};", range(self.bits), number(self.bits, 0)));
        rows.iter().for_each(|row| out.line(&row.number));
        out.blank();
        out.open("always @* begin : decode");
        out.line("instruction = ILLEGAL;");
        out.open("casez (window)");
        rows.iter().filter_map(|row| row.pattern.as_ref()).for_each(|pattern| out.line(pattern));
        out.line("default: ;");
        out.close("endcase");
        rows.iter().filter_map(|row| row.test.as_ref()).for_each(|test| out.line(test));
        out.close("end");
        out.blank();
        out.finish()
    }
}

/// Concatenates several numbers.
fn joined(parts: &[u32], numbers: &[u64]) -> String {
    let all: Vec<String> = parts.iter().zip(numbers).map(|(bits, value)| number(*bits, *value)).collect();
    if all.len() == 1 { all.concat() } else { format!("{{{}}}", all.join(", ")) }
}

/// Returns the bits of a row: 0, 1, and ? where an operand is, with a separator between cells.
fn pattern(cube: Cube, window: u32, cell: u32) -> String {
    let mut text = format!("{window}'b");
    for at in 0..window {
        if at > 0 && at % cell == 0 {
            text.push('_');
        }
        let bit = 1u128 << (127 - at);
        text.push(match (cube.mask & bit != 0, cube.value & bit != 0) {
            (false, _) => '?',
            (true, false) => '0',
            (true, true) => '1',
        });
    }
    text
}

/// Returns a test of whether the window is in a set.
fn test(cube: Cube, window: u32) -> String {
    let digits = (window as usize).div_ceil(4);
    let (mask, value) = (cube.mask >> (128 - window), cube.value >> (128 - window));
    format!("(window & {window}'h{mask:0digits$X}) == {window}'h{value:0digits$X}")
}
