//! From a program's machine code to C: one label for every jump target, `goto` where the target is known, a `switch`
//! where it is computed, and the meaning of every instruction from the definition.
//!
//! The translation leaves out whatever a static translator may: it does not check whether stores hit code, and a run
//! stops at the first backward jump after its budget instead of exactly. A run of the interpreter provides what it
//! cannot know: which instructions there are.

use std::fmt::Write;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, RegisterId};
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_isa::semantics::{Expr, ExprKind, Statement};

use super::profile::{Profile, Translatable};

/// The beginning of every translation. All of it is inlined.
const PRELUDE: &str = "\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef uint64_t u;
#define INLINE static inline __attribute__((always_inline))
#define RARELY(x) __builtin_expect(!!(x), 0)
INLINE int64_t sx(u x, unsigned w) { return (int64_t)(x << (64 - w)) >> (64 - w); }
INLINE u shl(u x, u n, u m) { return n >= 64 ? 0 : x << n & m; }
INLINE u shr(u x, u n) { return n >= 64 ? 0 : x >> n; }
INLINE u sar(u x, u n, unsigned w, u m) { return (u)(sx(x, w) >> (n > 63 ? 63 : n)) & m; }
INLINE u rotl(u x, u n, unsigned w, u m) { n %= w; return n ? (x << n & m) | x >> (w - n) : x; }
INLINE u quotient(u x, u y, u m) { return y ? x / y : m; }
INLINE u rest(u x, u y) { return y ? x % y : x; }
INLINE u squotient(u x, u y, unsigned w, u m) {
  return (y == 0 ? m : sx(y, w) == -1 ? 0 - x : (u)(sx(x, w) / sx(y, w))) & m;
}
INLINE u srest(u x, u y, unsigned w, u m) {
  return (y == 0 ? x : sx(y, w) == -1 ? 0 : (u)(sx(x, w) % sx(y, w))) & m;
}
";

/// The end of every translation: the process times its run, and prints what the run left.
const MAIN: &str = "\
int main(int count, char **arguments) {
  if (count != 2) return 2;
  struct timespec before, after;
  load();
  clock_gettime(CLOCK_MONOTONIC, &before);
  u steps = run(strtoull(arguments[1], 0, 10));
  clock_gettime(CLOCK_MONOTONIC, &after);
  u time = (after.tv_sec - before.tv_sec) * 1000000000ull + after.tv_nsec - before.tv_nsec;
  printf(\"%llu %llu %llu %llu\\n\", (unsigned long long)steps, (unsigned long long)time,
         (unsigned long long)last_pc, (unsigned long long)digest());
  return 0;
}
";

/// The basis and the prime of the digest, FNV-1a over 64-bit values.
pub(super) const DIGEST: (u64, u64) = (0xCBF2_9CE4_8422_2325, 0x0000_0100_0000_01B3);

/// Returns the translation of a program.
pub(super) fn emit(isa: &Isa, profile: &Profile) -> String {
    let mut out = PRELUDE.to_owned();
    memories(isa, profile, &mut out);
    out += "static u last_pc;\n";
    let saved =
        isa.registers.iter().enumerate().map(|(at, register)| {
            format!("static {} saved{at} = {};\n", c_type(register.width), number(register.reset))
        });
    out.extend(saved);
    digest(isa, &mut out);
    Emitter { isa, profile, out: &mut out }.function();
    out + MAIN
}

/// Returns the smallest type that holds this many bits.
fn c_type(width: Width) -> &'static str {
    match width.bits() {
        ..=8 => "uint8_t",
        9..=16 => "uint16_t",
        17..=32 => "uint32_t",
        _ => "uint64_t",
    }
}

fn number(value: u64) -> String {
    format!("{value:#x}ull")
}

fn mask(width: Width) -> String {
    number(width.mask())
}

fn memories(isa: &Isa, profile: &Profile, out: &mut String) {
    for (at, memory) in isa.memories.iter().enumerate() {
        let _ = writeln!(out, "static {} m{at}[{}];", c_type(memory.cell), memory.cells());
    }
    *out += "static void load(void) {\n";
    for (memory, address, value) in &profile.cells {
        let _ = writeln!(out, "  m{}[{address}] = {value};", memory.index());
    }
    *out += "}\n";
}

/// Writes a digest of registers and memories, to be compared with that of an engine.
fn digest(isa: &Isa, out: &mut String) {
    let (basis, prime) = DIGEST;
    let _ = writeln!(out, "static u digest(void) {{\n  u h = {};", number(basis));
    for at in 0..isa.registers.len() {
        let _ = writeln!(out, "  h = (h ^ saved{at}) * {};", number(prime));
    }
    for (at, memory) in isa.memories.iter().enumerate() {
        let (cells, prime) = (memory.cells(), number(prime));
        let _ = writeln!(out, "  for (u at = 0; at < {cells}; at++) h = (h ^ m{at}[at]) * {prime};");
    }
    *out += "  return h;\n}\n";
}

struct Emitter<'e> {
    isa: &'e Isa,
    profile: &'e Profile,
    out: &'e mut String,
}

impl Emitter<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "  {}", text.as_ref());
    }

    /// Writes the whole program as one function. Registers are local, so that gcc can allocate them freely.
    fn function(mut self) {
        *self.out += "static u run(u limit) {\n";
        self.line("u steps = 0, pc;");
        for (at, register) in self.isa.registers.iter().enumerate() {
            self.line(format!("{} r{at} = {};", c_type(register.width), number(register.reset)));
        }
        self.line(format!("goto at{:x};", self.profile.entry));
        let mut expected = None;
        for (pc, instruction) in &self.profile.instructions {
            if expected.is_some_and(|expected| expected != *pc) {
                self.leave(expected.unwrap_or_default());
            }
            if self.profile.leaders.contains(pc) {
                let block = self.profile.block_length(*pc);
                let _ = writeln!(self.out, "at{pc:x}: steps += {block};");
            }
            self.instruction(*pc, instruction);
            expected = Some(instruction.next);
        }
        self.leave(expected.unwrap_or_default());
        *self.out += "out:\n";
        self.line("last_pc = pc;");
        (0..self.isa.registers.len()).for_each(|at| self.line(format!("saved{at} = r{at};")));
        self.line("return steps;");
        *self.out += "}\n";
    }

    /// Continues at an address that is not the next one here, or ends the run if there is no code.
    fn leave(&mut self, pc: u64) {
        match self.profile.leaders.contains(&pc) {
            true => self.line(format!("goto at{pc:x};")),
            false => self.stop(pc),
        }
    }

    /// Ends the run.
    fn stop(&mut self, pc: u64) {
        self.line(format!("pc = {}; goto out;", number(pc)));
    }

    fn instruction(&mut self, pc: u64, instruction: &Translatable) {
        self.line("{");
        for (at, width) in instruction.body.locals.iter().enumerate() {
            self.line(format!("{} l{at};", c_type(*width)));
        }
        let jumps = instruction.jumps();
        if !jumps.is_empty() {
            self.line(format!("u to = {};", number(instruction.next)));
        }
        self.block(&instruction.body.block, pc);
        if !jumps.is_empty() {
            self.jump(pc, instruction, &jumps);
        }
        self.line("}");
    }

    /// Jumps to where `to` says. gcc resolves the switch where it knows the value.
    fn jump(&mut self, pc: u64, instruction: &Translatable, jumps: &[&Expr]) {
        let constants: Option<Vec<u64>> = jumps.iter().map(|target| target.as_constant()).collect();
        let mut targets = constants.unwrap_or_else(|| self.profile.leaders.iter().copied().collect());
        targets.push(instruction.next);
        targets.retain(|target| self.profile.leaders.contains(target));
        targets.sort_unstable();
        targets.dedup();
        self.line("switch (to) {");
        for target in targets {
            let stop = if target <= pc {
                format!("if (RARELY(steps >= limit)) {{ pc = {target}; goto out; }} ")
            } else {
                String::new()
            };
            self.line(format!("case {target}: {stop}goto at{target:x};"));
        }
        self.line("default: pc = to; goto out;");
        self.line("}");
    }

    fn block(&mut self, block: &[Statement], pc: u64) {
        block.iter().for_each(|statement| self.statement(statement, pc));
    }

    fn statement(&mut self, statement: &Statement, pc: u64) {
        match statement {
            Statement::Let(local, value) => self.line(format!("l{} = {};", local.0, expression(value))),
            Statement::SetRegister(register, value) => {
                self.line(format!("{} = {};", name(*register), expression(value)))
            }
            Statement::Load { into, memory, address, .. } => {
                self.guard(*memory, address, pc);
                self.line(format!("l{} = m{}[{}];", into.0, memory.index(), expression(address)));
            }
            Statement::Store { memory, address, value, .. } => {
                self.guard(*memory, address, pc);
                self.line(format!("m{}[{}] = {};", memory.index(), expression(address), expression(value)));
            }
            Statement::Jump(target) => self.line(format!("to = {};", expression(target))),
            Statement::If { condition, then, otherwise } => {
                self.line(format!("if ({}) {{", expression(condition)));
                self.block(then, pc);
                self.line("} else {");
                self.block(otherwise, pc);
                self.line("}");
            }
            Statement::Cycles(_) => {}
            Statement::Halt
            | Statement::Fault { .. }
            | Statement::DeviceRead { .. }
            | Statement::DeviceWrite { .. }
            | Statement::SetOperand(..) => self.stop(pc),
        }
    }

    /// Leaves the translation before an access to an address that reaches something other than memory.
    fn guard(&mut self, memory: MemoryId, address: &Expr, pc: u64) {
        let mappings = self.isa.maps.iter().filter(|mapping| mapping.memory == memory);
        let spans: Vec<(u64, u64)> = mappings.map(|mapping| (mapping.first, mapping.last)).collect();
        let Some(first) = spans.iter().map(|span| span.0).min() else { return };
        let last = spans.iter().map(|span| span.1).max().unwrap_or(first);
        let address = expression(address);
        self.line(format!("if (RARELY({address} - {first} <= {})) {{ pc = {pc}; goto out; }}", last - first));
    }
}

fn name(register: RegisterId) -> String {
    format!("r{}", register.index())
}

/// Returns a 64-bit value with zeros above its width.
fn expression(expr: &Expr) -> String {
    let width = expr.width;
    match &expr.kind {
        ExprKind::Constant(value) => number(*value),
        ExprKind::Local(local) => format!("(u)l{}", local.0),
        ExprKind::Register(register) => format!("(u){}", name(*register)),
        ExprKind::Unary(UnaryOperator::Not, x) => format!("(~{} & {})", expression(x), mask(width)),
        ExprKind::Unary(UnaryOperator::Negate, x) => format!("(0 - {} & {})", expression(x), mask(width)),
        ExprKind::Binary(operator, x, y) => binary(*operator, x, y),
        ExprKind::Slice(x, low) => format!("({} >> {low} & {})", expression(x), mask(width)),
        ExprKind::Join(high, low) => format!("({} << {} | {})", expression(high), low.width.bits(), expression(low)),
        ExprKind::ZeroExtend(x) => expression(x),
        ExprKind::SignExtend(x) => format!("((u)sx({}, {}) & {})", expression(x), x.width.bits(), mask(width)),
        ExprKind::Choose(condition, x, y) => {
            format!("({} ? {} : {})", expression(condition), expression(x), expression(y))
        }
        ExprKind::Operand(_) | ExprKind::Code(_) | ExprKind::Pc | ExprKind::Next => {
            unreachable!("an instruction at an address has none")
        }
    }
}

fn binary(operator: BinaryOperator, left: &Expr, right: &Expr) -> String {
    use BinaryOperator::*;
    let (x, y, w, m) = (expression(left), expression(right), left.width.bits(), mask(left.width));
    match operator {
        Add => format!("({x} + {y} & {m})"),
        Subtract => format!("({x} - {y} & {m})"),
        Multiply => format!("({x} * {y} & {m})"),
        Divide => format!("quotient({x}, {y}, {m})"),
        DivideSigned => format!("squotient({x}, {y}, {w}, {m})"),
        Remainder => format!("rest({x}, {y})"),
        RemainderSigned => format!("srest({x}, {y}, {w}, {m})"),
        And => format!("({x} & {y})"),
        Or => format!("({x} | {y})"),
        Xor => format!("({x} ^ {y})"),
        ShiftLeft => format!("shl({x}, {y}, {m})"),
        ShiftRight => format!("shr({x}, {y})"),
        ShiftRightSigned => format!("sar({x}, {y}, {w}, {m})"),
        RotateLeft => format!("rotl({x}, {y}, {w}, {m})"),
        RotateRight => format!("rotl({x}, {w} - {y} % {w}, {w}, {m})"),
        Equal => format!("(u)({x} == {y})"),
        Unequal => format!("(u)({x} != {y})"),
        Less => format!("(u)({x} < {y})"),
        LessOrEqual => format!("(u)({x} <= {y})"),
        LessSigned => format!("(u)(sx({x}, {w}) < sx({y}, {w}))"),
        LessOrEqualSigned => format!("(u)(sx({x}, {w}) <= sx({y}, {w}))"),
    }
}
