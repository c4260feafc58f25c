//! Division by a unit of its own, which finds one bit of the quotient per clock cycle. In an instruction, a division is
//! two accesses: one gives the unit both operands, the other takes its answer when that is ready.

use lathe_isa::Isa;
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Body, Expr, ExprKind};

use crate::DIVISION;
use crate::body::{Lowering, for_each_expression};
use crate::expression::{extend, number, range, select};
use crate::operators::is_division;
use crate::shape;
use crate::writer::Writer;

/// Dividend and divisor. The unit finds quotient and remainder together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    x: Expr,
    y: Expr,
    is_signed: bool,
}

/// A division that has been done, and the names of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) of: Fraction,
    quotient: Option<String>,
    remainder: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Quotient,
    Remainder,
}

impl Fraction {
    fn of(operator: BinaryOperator, x: &Expr, y: &Expr) -> Fraction {
        let is_signed = matches!(operator, BinaryOperator::DivideSigned | BinaryOperator::RemainderSigned);
        Fraction { x: x.clone(), y: y.clone(), is_signed }
    }

    /// Whether a part of the operands satisfies a condition.
    pub(crate) fn mention(&self, is_wanted: impl Fn(&ExprKind) -> bool) -> bool {
        let mut found = false;
        let mut see = |expr: &Expr| found |= is_wanted(&expr.kind);
        self.x.visit(&mut see);
        self.y.visit(&mut see);
        found
    }
}

/// Returns which result of a division an operator wants.
fn part(operator: BinaryOperator) -> Part {
    match operator {
        BinaryOperator::Divide | BinaryOperator::DivideSigned => Part::Quotient,
        _ => Part::Remainder,
    }
}

/// Returns the exponent for an unsigned division by a power of two, whose result is just bits of the dividend.
fn power_of_two(operator: BinaryOperator, y: &Expr) -> Option<u32> {
    let is_signed = matches!(operator, BinaryOperator::DivideSigned | BinaryOperator::RemainderSigned);
    let by = y.as_constant().filter(|by| !is_signed && by.is_power_of_two())?;
    Some(by.trailing_zeros())
}

/// Returns the operator and the operands of a division that needs the unit.
fn slow_division(expr: &Expr) -> Option<(BinaryOperator, &Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(operator, x, y) if is_division(*operator) && power_of_two(*operator, y).is_none() => {
            Some((*operator, x, y))
        }
        _ => None,
    }
}

/// Returns the width of the widest division that needs the unit, if there is any.
pub(crate) fn widest(isa: &Isa) -> Option<u32> {
    let mut widest = None;
    let mut see = |expr: &Expr| widest = widest.max(slow_division(expr).map(|(_, x, _)| x.width.bits()));
    for body in shape::bodies(isa) {
        for_each_expression(body, &mut |expr| expr.visit(&mut see));
    }
    // A unit one bit wide could not shift.
    widest.map(|bits| bits.max(2))
}

/// Whether a body needs the unit.
pub(crate) fn divides(body: &Body) -> bool {
    let mut divides = false;
    for_each_expression(body, &mut |expr| expr.visit(&mut |expr| divides |= slow_division(expr).is_some()));
    divides
}

/// Returns the divisions of a body of which it uses both quotient and remainder.
pub(crate) fn wanted_both(body: &Body) -> Vec<Fraction> {
    let (mut quotients, mut remainders) = (Vec::new(), Vec::new());
    let mut see = |expr: &Expr| {
        if let Some((operator, x, y)) = slow_division(expr) {
            let all = if part(operator) == Part::Quotient { &mut quotients } else { &mut remainders };
            all.push(Fraction::of(operator, x, y));
        }
    };
    for_each_expression(body, &mut |expr| expr.visit(&mut see));
    quotients.retain(|operands| remainders.contains(operands));
    quotients
}

impl Lowering<'_> {
    /// Whether a part of an expression takes clock cycles.
    pub(crate) fn divides_slowly(&self, expr: &Expr) -> bool {
        let mut divides = false;
        expr.visit(&mut |expr| divides |= slow_division(expr).is_some());
        divides && self.may_divide_slowly
    }

    /// Writes a division; returns its text. `None` if the operator is another, or the division has to be combinational.
    pub(crate) fn division(&mut self, operator: BinaryOperator, x: &Expr, y: &Expr) -> Option<String> {
        if !is_division(operator) {
            return None;
        }
        let bits = x.width.bits();
        if let Some(power) = power_of_two(operator, y) {
            return Some(match part(operator) {
                Part::Quotient => {
                    let name = self.named(x);
                    extend(&select(&name, bits, power, bits - power), bits - power, bits)
                }
                Part::Remainder if power == 0 => number(bits, 0),
                Part::Remainder => {
                    let name = self.named(x);
                    extend(&select(&name, bits, 0, power), power, bits)
                }
            });
        }
        let width = self.shape.division.filter(|_| self.may_divide_slowly)?;
        let operands = Fraction::of(operator, x, y);
        let done = self.known.divisions.iter().find(|division| division.of == operands);
        let found = done.and_then(|division| match part(operator) {
            Part::Quotient => division.quotient.clone(),
            Part::Remainder => division.remainder.clone(),
        });
        Some(found.unwrap_or_else(|| self.divide(operator, operands, width)))
    }

    /// Writes a division by the unit; returns the name of the result.
    fn divide(&mut self, operator: BinaryOperator, of: Fraction, width: u32) -> String {
        let bits = of.x.width.bits();
        let sign = |name: &str| select(name, bits, bits - 1, 1);
        // For signed operands the unit divides the magnitudes.
        let (x, y) = if of.is_signed {
            (self.named(&of.x), self.named(&of.y))
        } else {
            (self.expression(&of.x), self.expression(&of.y))
        };
        let given = |text: &str| {
            let amount = if of.is_signed { format!("({} ? -{text} : {text})", sign(text)) } else { text.to_owned() };
            extend(&amount, bits, width)
        };
        let ((at, take), _) = (self.number_site(), self.number_site());
        self.out.line(format!("`divide({at}, {}, {})", given(&x), given(&y)));
        let mut done = Division { of, quotient: None, remainder: None };
        let wants_both = self.wanted_both.contains(&done.of);
        for wanted in [Part::Quotient, Part::Remainder] {
            if wanted != part(operator) && !wants_both {
                continue;
            }
            let latch = self.latch(bits);
            let from = if wanted == Part::Quotient { "divide_quotient" } else { "divide_remainder" };
            self.out.line(format!("if (step == {take}) {latch} = {};", select(from, width, 0, bits)));
            let name = if done.of.is_signed {
                let is_negative = match wanted {
                    Part::Quotient => format!("{} != {} && {y} != {}", sign(&x), sign(&y), number(bits, 0)),
                    Part::Remainder => sign(&x),
                };
                self.temporary(bits, &format!("({is_negative}) ? -{latch} : {latch}"))
            } else {
                latch
            };
            *(if wanted == Part::Quotient { &mut done.quotient } else { &mut done.remainder }) = Some(name);
        }
        let name = if part(operator) == Part::Quotient { &done.quotient } else { &done.remainder };
        let name = name.clone().unwrap_or_default();
        self.known.divisions.retain(|division| division.of != done.of);
        self.known.divisions.push(done);
        name
    }
}

/// Writes the instance of the unit in the core.
pub(crate) fn instance(out: &mut Writer, module: &str, width: u32) {
    let bits = range(width);
    out.line("// The unit that divides.");
    out.line(format!("reg divide_start;\nreg {bits}divide_x;\nreg {bits}divide_y;"));
    out.line("reg divide_take; // what it gives is taken in this cycle, if it is ready");
    out.line(format!("wire divide_ready;\nwire {bits}divide_quotient;\nwire {bits}divide_remainder;"));
    out.open(format!("{module}{DIVISION} #(.W({width})) divider ("));
    out.line(".clk(clk), .start(divide_start), .x(divide_x), .y(divide_y),");
    out.line(".ready(divide_ready), .quotient(divide_quotient), .remainder(divide_remainder)");
    out.close(");");
    out.blank();
}

/// Writes the inputs of the unit when it is idle.
pub(crate) fn defaults(out: &mut Writer, width: u32) {
    let zero = number(width, 0);
    out.line(format!("divide_start = 1'b0;\ndivide_x = {zero};\ndivide_y = {zero};\ndivide_take = 1'b0;"));
}

/// Writes the macro of a division: the access `AT` and the one after it.
pub(crate) fn access(out: &mut Writer, step_bits: u32) {
    let [one, two] = [1, 2].map(|count| number(step_bits, count));
    out.line("// The answer comes later.");
    out.define(
        "divide(AT, X, Y)",
        &format!(
            "if (!stop && step <= AT) begin
  if (!busy) begin divide_start = 1'b1; divide_x = X; divide_y = Y; step_next = AT + {one}; end
  stop = 1'b1;
end else if (!stop && step == AT + {one}) begin
  divide_take = 1'b1; busy = 1'b1;
  if (divide_ready) step_next = AT + {two}; else stop = 1'b1;
end"
        ),
    );
}

/// Writes the module of the unit.
pub(crate) fn unit(out: &mut Writer, module: &str) {
    let what = "// Divides numbers of W bits, one bit of the quotient in a clock cycle.\n/* verilator lint_off DECLFILENAME */";
    out.raw(&format!("{what}\nmodule {module}{DIVISION}{UNIT}"));
    out.raw("/* verilator lint_on DECLFILENAME */\n\n");
}

const UNIT: &str = " #(parameter W = 8) (
  input  wire         clk,
  input  wire         start,     // x and y are taken, whatever was divided before
  input  wire [W-1:0] x,
  input  wire [W-1:0] y,
  output wire         ready,     // the answer is there, and stays until the next start:
  output reg  [W-1:0] quotient,  // all ones, if y is 0
  output reg  [W-1:0] remainder  // x, if y is 0
);
  localparam COUNT = $clog2(W + 1);
  reg [COUNT-1:0] left; // bits of the quotient that are not there yet
  reg [W-1:0] divisor;

  // The bits of x leave `quotient` at its top, while its own come in at the bottom.
  wire [W:0] part = {remainder, quotient[W-1]};
  wire [W:0] rest = part - {1'b0, divisor};
  wire fits = !rest[W];

  assign ready = left == {COUNT{1'b0}};

  always @(posedge clk) begin
    if (start) begin
      quotient <= x;
      remainder <= {W{1'b0}};
      divisor <= y;
      left <= W[COUNT-1:0];
    end else if (!ready) begin
      quotient <= {quotient[W-2:0], fits};
      remainder <= fits ? rest[W-1:0] : part[W-1:0];
      left <= left - 1'b1;
    end
  end
endmodule
";
