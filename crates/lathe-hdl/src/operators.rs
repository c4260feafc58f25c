//! Functions for operators that Verilog lacks or defines differently: division with a result for zero, shifts that keep
//! the sign, rotations.

use std::collections::BTreeSet;

use lathe_isa::operators::BinaryOperator;

use crate::writer::Writer;

/// The functions that a core needs, each for one width of values and one width of counts.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    needed: BTreeSet<(&'static str, u32, u32)>,
}

/// Whether an operator divides.
pub(crate) fn is_division(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Divide, DivideSigned, Remainder, RemainderSigned};
    matches!(operator, Divide | DivideSigned | Remainder | RemainderSigned)
}

/// Returns the stem of the names of the functions for an operator, if it needs one.
fn stem(operator: BinaryOperator) -> Option<&'static str> {
    Some(match operator {
        BinaryOperator::Divide => "divide",
        BinaryOperator::DivideSigned => "divide_signed",
        BinaryOperator::Remainder => "remainder",
        BinaryOperator::RemainderSigned => "remainder_signed",
        BinaryOperator::ShiftRightSigned => "shift_right_signed",
        BinaryOperator::RotateLeft => "rotate_left",
        BinaryOperator::RotateRight => "rotate_right",
        _ => return None,
    })
}

/// Returns Verilog's operator for an operator, if there is one.
pub(crate) fn symbol(operator: BinaryOperator) -> Option<&'static str> {
    use BinaryOperator::*;
    Some(match operator {
        Add => "+",
        Subtract => "-",
        Multiply => "*",
        And => "&",
        Or => "|",
        Xor => "^",
        ShiftLeft => "<<",
        ShiftRight => ">>",
        Equal => "==",
        Unequal => "!=",
        Less | LessSigned => "<",
        LessOrEqual | LessOrEqualSigned => "<=",
        Divide | DivideSigned | Remainder | RemainderSigned | ShiftRightSigned | RotateLeft | RotateRight => {
            return None;
        }
    })
}

impl Functions {
    /// Returns the name of the function for an operator on a left operand of `width` and a right one of `count` bits.
    pub(crate) fn name(&mut self, operator: BinaryOperator, width: u32, count: u32) -> Option<String> {
        let stem = stem(operator)?;
        self.needed.insert((stem, width, count));
        Some(name(stem, width, count))
    }

    /// Writes the functions.
    pub(crate) fn write(&self, out: &mut Writer) {
        for (stem, width, count) in &self.needed {
            let last = width - 1;
            let range = |bits: u32| if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) };
            let name = name(stem, *width, *count);
            out.open(format!("function {}{name}(input {}x, input {}y);", range(*width), range(*width), range(*count)));
            match *stem {
                "divide" => out.line(format!("{name} = y == {width}'d0 ? {{{width}{{1'b1}}}} : x / y;")),
                "remainder" => out.line(format!("{name} = y == {width}'d0 ? x : x % y;")),
                "divide_signed" | "remainder_signed" => signed(out, &name, stem, *width),
                "shift_right_signed" => out.line(format!("{name} = $signed(x) >>> y;")),
                _ if *width == 1 => out.line(format!("{name} = x;")),
                rotate => {
                    let double = 2 * width;
                    out.open("begin : rotate");
                    out.line(format!("reg [{}:0] wide;", double - 1));
                    // If a count can reach the width or more, it is taken modulo the width.
                    let beyond = *count >= 32 || (1u64 << count) > u64::from(*width);
                    let bits = width.trailing_zeros();
                    let amount = match () {
                        () if !beyond => "y".to_owned(),
                        () if width.is_power_of_two() => {
                            if bits == 1 {
                                "y[0]".to_owned()
                            } else {
                                format!("y[{}:0]", bits - 1)
                            }
                        }
                        () => format!("(y % {count}'d{width})"),
                    };
                    if rotate == "rotate_left" {
                        out.line(format!("wide = {{x, x}} << {amount};"));
                        out.line(format!("{name} = wide[{}:{width}];", double - 1));
                    } else {
                        out.line(format!("wide = {{x, x}} >> {amount};"));
                        out.line(format!("{name} = wide[{last}:0];"));
                    }
                    out.close("end");
                }
            }
            out.close("endfunction");
            out.blank();
        }
    }
}

/// Writes division of two's complement numbers: of their magnitudes, with the sign put back.
fn signed(out: &mut Writer, name: &str, stem: &str, width: u32) {
    let sign = if width == 1 { String::new() } else { format!("[{}]", width - 1) };
    let range = if width == 1 { String::new() } else { format!("[{}:0] ", width - 1) };
    out.open("begin : divide");
    out.line(format!("reg {range}a;\nreg {range}b;\nreg {range}r;"));
    out.line(format!("a = x{sign} ? -x : x;\nb = y{sign} ? -y : y;"));
    if stem == "divide_signed" {
        out.line(format!("r = b == {width}'d0 ? {{{width}{{1'b1}}}} : a / b;"));
        out.line(format!("{name} = y != {width}'d0 && x{sign} != y{sign} ? -r : r;"));
    } else {
        out.line(format!("r = b == {width}'d0 ? a : a % b;"));
        out.line(format!("{name} = x{sign} ? -r : r;"));
    }
    out.close("end");
}

fn name(stem: &str, width: u32, count: u32) -> String {
    if stem.starts_with("shift") || stem.starts_with("rotate") {
        format!("{stem}_{width}_by_{count}")
    } else {
        format!("{stem}_{width}")
    }
}
