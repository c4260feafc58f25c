//! The module of the core: ports, registers, the combinational block that executes, and the clock that makes it final.

use std::collections::{BTreeMap, BTreeSet};

use lathe_base::Source;
use lathe_isa::Isa;
use lathe_isa::model::{Domain, FieldId, InstructionId, MemoryId, Place, RegisterId};
use lathe_isa::semantics::{Block, Statement};

use crate::Form;
use crate::body::{Common, Doing, Lowering, Way};
use crate::decode::Decode;
use crate::divide;
use crate::expression::{number, range, select};
use crate::maps;
use crate::parts::PARTS;
use crate::shape::{self, Shape};
use crate::writer::Writer;

/// The text of a core, in the pieces that a slice leaves out or keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    start: String,
    decode: Decode,
    declared: String,
    /// What `on step` does.
    hook: String,
    /// Whether it jumps whenever it is done.
    hook_jumps: bool,
    before: String,
    /// What instructions do: all of it, or part by part.
    cases: Vec<Case>,
    /// Which arm each instruction has in each case, if it has one; what is done at bits that no row has, last.
    arms: Vec<Vec<Option<usize>>>,
    after: String,
}

/// One of several things is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Case {
    /// What tells which.
    of: String,
    /// The bits of that.
    bits: u32,
    arms: Vec<String>,
}

impl Case {
    fn of<'a>(&self, arms: impl Iterator<Item = &'a String>, otherwise: &str) -> String {
        let arms: String = arms.map(String::as_str).collect();
        let mut out = Writer::at(CASES);
        out.open(format!("case ({})", self.of));
        out.raw(&arms);
        if !otherwise.is_empty() {
            out.line(otherwise);
        }
        out.close("endcase");
        out.finish()
    }
}

impl Text {
    /// The core.
    pub(crate) fn whole(&self) -> String {
        let decode = self.decode.whole();
        // The last arm of the first is for whatever no other is for.
        let otherwise = std::iter::once("").chain(std::iter::repeat("default: ;"));
        let cases: String =
            self.cases.iter().zip(otherwise).map(|(case, other)| case.of(case.arms.iter(), other)).collect();
        format!("{}{decode}{}{}{}{cases}{}", self.start, self.declared, self.hook, self.before, self.after)
    }

    /// The core with what one instruction does only, and with what `on step` does in place of an instruction only in the last. Other rows
    /// are not decoded. It gets stuck where the whole would go to another.
    pub(crate) fn slice(&self, at: usize) -> Option<String> {
        let arms = self.arms.get(at)?;
        let decode = self.decode.row(at);
        let others = "default: stop = 1'b1; // what the core does with other bits is left out";
        let others = std::iter::once(others).chain(std::iter::repeat("default: ;"));
        let cases: String = (self.cases.iter().zip(arms).zip(others))
            .map(|((case, arm), others)| {
                let none = if self.cases.len() == 1 { "ILLEGAL".to_owned() } else { number(case.bits, 0) };
                let arm = arm.map(|arm| case.arms[arm].replacen(OTHERWISE, &format!("{none}: begin"), 1));
                case.of(arm.iter(), others)
            })
            .collect();
        let hook = match self.hook_jumps && at + 1 < self.arms.len() {
            true => "      jump = 1'b1; stop = 1'b1; // what the core does on step is left out\n",
            false => &self.hook,
        };
        let (start, declared) = (&self.start, &self.declared);
        Some(format!("{start}{decode}{declared}{hook}{}{cases}{}", self.before, self.after))
    }

    /// What decodes, as a module of its own.
    pub(crate) fn decoder(&self, module: &str) -> String {
        self.decode.module(module)
    }

    /// How long the text is that says what instructions do, without comments.
    fn length(&self) -> usize {
        let lines = self.cases.iter().flat_map(|case| &case.arms).flat_map(|arm| arm.lines()).map(str::trim_start);
        lines.filter(|line| !line.starts_with("//")).map(str::len).sum()
    }

    /// The number of each instruction: those of its arms, one above the other. 0 is for what is none.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let number = |arms: &Vec<Option<usize>>| {
            self.cases.iter().zip(arms).fold(0, |above, (case, arm)| above << case.bits | arm_number(*arm))
        };
        self.arms[..self.arms.len() - 1].iter().map(number).collect()
    }

    /// The bits of such a number.
    pub(crate) fn number_bits(&self) -> u32 {
        self.cases.iter().map(|case| case.bits).sum()
    }

    /// The number of an instruction in each case.
    fn number(&self, at: usize) -> Vec<u64> {
        self.arms[at].iter().map(|arm| arm_number(*arm)).collect()
    }
}

/// How an arm is called; 0 is where there is none, and the one for what no row has.
fn arm_number(arm: Option<usize>) -> u64 {
    arm.map_or(0, |arm| arm as u64 + 1)
}

/// How deep the cases are.
const CASES: usize = 3;

/// How the arm for bits that no row has begins.
const OTHERWISE: &str = "default: begin";

/// The text of the core, how many accesses each of its instructions makes at most, and how far `step` counts.
pub(crate) fn module(isa: &Isa, sources: &[Source], shape: &Shape, form: Form) -> (Text, Vec<u32>, u32) {
    let write = |in_parts| execution(isa, sources, shape, in_parts);
    let (execution, common) = match form {
        Form::Whole => write(false),
        Form::Parts => write(true),
        Form::Best => {
            let (whole, parts) = (write(false), write(true));
            if parts.0.length() * WORTH < whole.0.length() { parts } else { whole }
        }
    };
    let mut out = Writer::default();
    let core = Core { isa, shape, common: &common };
    core.header(&mut out, execution.cases.len() > 1);
    core.ports(&mut out);
    let (start, declared, after) = core.inside(&execution);
    out.raw(&start);
    let numbers: Vec<Vec<u64>> = (0..isa.instructions.len()).map(|at| execution.number(at)).collect();
    let bits: Vec<u32> = execution.cases.iter().map(|case| case.bits).collect();
    let decode = Decode::new(isa, &shape.names, &bits, &numbers);
    (Text { start: out.finish(), decode, declared, after, ..execution }, common.accesses, common.steps)
}

/// Instructions are written in parts if they are so many times shorter then. In one piece they are easier to read, and where parts are
/// shared by few they do not make the core smaller: mos6502, 3.3 times shorter, loses a fifth of its LUTs, and i8051, 2.3 times, none.
const WORTH: usize = 3;

/// What instructions do, and what has been found out about it.
fn execution(isa: &Isa, sources: &[Source], shape: &Shape, in_parts: bool) -> (Text, Common) {
    let mut common = Common { step_bits: 1, ..Common::default() };
    // The first writing finds out how many steps there are, which the second needs to know.
    Execution { isa, sources, shape, common: &mut common, in_parts }.write();
    let bits = u32::BITS - common.steps.leading_zeros();
    let mut common = Common { step_bits: bits.max(1), ..Common::default() };
    let text = Execution { isa, sources, shape, common: &mut common, in_parts }.write();
    (text, common)
}

pub(crate) struct Core<'a> {
    pub(crate) isa: &'a Isa,
    pub(crate) shape: &'a Shape,
    pub(crate) common: &'a Common,
}

/// A port: its direction with `wire` or `reg`, its bits, its name.
pub(crate) struct Port {
    pub(crate) is_input: bool,
    pub(crate) bits: u32,
    pub(crate) name: String,
    pub(crate) comment: String,
}

/// The ports of a core, in order.
pub(crate) fn ports(isa: &Isa, shape: &Shape) -> Vec<Port> {
    let mut all = Vec::new();
    let mut add = |is_input: bool, bits: u32, name: String, comment: &str| {
        all.push(Port { is_input, bits, name, comment: comment.to_owned() })
    };
    let pc = isa.pc.width.bits();
    add(true, 1, "clk".to_owned(), "everything happens at its rising edge");
    add(true, 1, "reset".to_owned(), "for one edge at least");
    add(true, pc, "reset_pc".to_owned(), "what the program counter and the registers are then");
    if shape.register_bits > 0 {
        add(
            true,
            shape.register_bits,
            "reset_registers".to_owned(),
            "in the order of the definition, the first lowest",
        );
    }
    for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
        let name = shape.names.memory(id);
        let lanes = shape.lanes[id.index()];
        let bits = lanes * memory.cell.bits();
        add(
            false,
            memory.address.bits(),
            format!("{name}_address"),
            "of the first cell; the others follow it, around the end",
        );
        add(false, 1, format!("{name}_read"), "`value` is wanted in the next cycle, and until the next read");
        add(false, lanes, format!("{name}_write"), "cells to be written, the first lowest");
        add(false, bits, format!("{name}_data"), "what is written, the first cell lowest");
        add(true, bits, format!("{name}_value"), "what was read, the first cell lowest");
        if memory.is_large() {
            add(true, 1, format!("{name}_ready"), "a read or write is taken in this cycle");
        }
    }
    for (id, operation) in &shape.operations {
        let kind = isa.devices[id.index()].kind;
        let port = format!("{}_{}", shape.names.device(*id), operation.operation.name());
        if shape::is_asked(isa, *id, operation) {
            add(false, 1, port.clone(), "");
        }
        for (name, width) in shape::argument_names(kind, operation.operation).iter().zip(&operation.arguments) {
            add(false, width.bits(), format!("{port}_{name}"), "");
        }
        if shape::may_wait(isa, *id, operation.operation) {
            add(true, 1, format!("{port}_ready"), "it is done in this cycle");
        }
        if let Some(width) = operation.result {
            let when = if shape::answers_later(operation) { "the answer, in the next cycle" } else { "the answer" };
            add(true, width.bits(), format!("{port}_value"), when);
        }
    }
    add(false, 1, "retire".to_owned(), "an instruction ends with this cycle:");
    add(false, pc, "retire_pc".to_owned(), "its address");
    add(false, Shape::window_bits(isa), "retire_bits".to_owned(), "its bits, the first cell highest");
    add(false, 1, "retire_replaced".to_owned(), "`on step` jumped in its place");
    add(false, pc, "retire_next".to_owned(), "the address of the next");
    if shape.register_bits > 0 {
        add(false, shape.register_bits, "retire_registers".to_owned(), "all registers after it");
    }
    if isa.has_cycles {
        add(false, 64, "retire_cycles".to_owned(), "the cycles that the definition counts for it");
    }
    add(false, 1, "halted".to_owned(), "the machine has stopped by itself");
    add(false, 1, "faulted".to_owned(), "the machine has stopped as it was before an instruction");
    add(false, shape.fault_bits(), "faulted_code".to_owned(), "why, see below");
    add(false, shape.detail_bits, "faulted_detail".to_owned(), "the number that goes with it");
    all
}

impl Core<'_> {
    fn header(&self, out: &mut Writer, in_parts: bool) {
        out.line(format!("// {}: {}", self.isa.name, self.isa.title));
        out.line("// Written by `lathe hdl` from the definition: change that, not this.");
        out.line("//\n// In every clock cycle the block `execute` does an instruction from its beginning, as the definition says it,");
        out.line("// up to the first access to a memory or device that has not been done: `step` tells which have. That access is what");
        out.line("// the cycle is for. When all are done the instruction retires, and only then the registers (`..._q`) change.");
        if in_parts {
            out.line("//\n// Instructions are done in parts, and those that are alike in one of them share it: `first` and `second` read the operands");
            out.line("// (`in..._...`) and find out where the result goes (`place..._...`), `operation` makes it (`out..._...`), `result` puts it there.");
        }
        out.blank();
        out.line("// An instruction may compute bits that nobody looks at.");
        out.line("/* verilator lint_off UNUSEDSIGNAL */");
        out.blank();
        out.line("`default_nettype none");
        out.blank();
    }

    fn ports(&self, out: &mut Writer) {
        out.open(format!("module {} (", self.shape.names.module));
        let all = ports(self.isa, self.shape);
        for (at, port) in all.iter().enumerate() {
            let kind = match port.name.as_str() {
                _ if port.is_input => "input  wire",
                name if name.starts_with("retire") => "output wire",
                _ => "output reg ",
            };
            let comma = if at + 1 == all.len() { "" } else { "," };
            let comment = if port.comment.is_empty() { String::new() } else { format!(" // {}", port.comment) };
            out.line(format!("{kind} {:<8}{}{comma}{comment}", range(port.bits), port.name).trim_end());
        }
        out.close(");");
    }

    /// What stands before decoding, between that and what instructions do, and after it.
    fn inside(&self, execution: &Text) -> (String, String, String) {
        let (isa, shape) = (self.isa, self.shape);
        let names = &shape.names;
        let pc = isa.pc.width.bits();
        let mut out = Writer::at(1);
        out.line("// What stays from one instruction to the next.");
        out.line(format!("reg {}{};", range(pc), names.pc));
        for (id, _) in &shape.registers {
            out.line(format!("reg {}{}_q;", range(isa.register(*id).width.bits()), names.register(*id)));
        }
        out.blank();
        out.line("// What an instruction makes of it.");
        for (id, _) in &shape.registers {
            out.line(format!("reg {}{};", range(isa.register(*id).width.bits()), names.register(*id)));
        }
        out.line(format!("reg {}next;\nreg jump;\nreg {}target;\nreg halt;", range(pc), range(pc)));
        if isa.has_cycles {
            out.line("reg [63:0] cycles;");
        }
        out.line(format!(
            "reg fault;\nreg {}fault_code;\nreg {}fault_detail;",
            range(shape.fault_bits()),
            range(shape.detail_bits)
        ));
        for (code, message) in shape.messages.iter().enumerate() {
            out.line(format!("// fault {code}: {message}"));
        }
        out.blank();
        out.line("// How far it has come: accesses below `step` have been done.");
        out.line("// It counts. Yosys would take it for a state machine, and need hours.");
        out.line(format!("(* fsm_encoding = \"none\" *) reg {}step;", range(self.common.step_bits)));
        out.line(format!("reg {}step_next;", range(self.common.step_bits)));
        out.line("reg stop; // nothing after this can be done in this cycle\nreg busy; // this cycle has its access");
        out.blank();
        out.line("// What it has read, and what divisions gave.");
        out.line(format!("reg {}window_q;", range(Shape::window_bits(isa))));
        for (bits, name) in loaded(isa, shape, self.common) {
            out.line(format!("reg {}{name};\nreg {}{name}_q;", range(bits), range(bits)));
        }
        maps::answers(isa, shape, self.common, &mut out);
        out.blank();
        out.line("// What it computes on its way.");
        for (bits, name) in computed(isa, shape, self.common) {
            out.line(format!("reg {}{name};", range(bits)));
        }
        out.blank();
        self.window(&mut out);
        out.line(format!("reg {}instruction;", range(execution.number_bits())));
        if execution.cases.len() > 1 {
            let mut low = execution.number_bits();
            for Case { of, bits, .. } in &execution.cases {
                low -= bits;
                let value = select("instruction", execution.number_bits(), low, *bits);
                out.line(format!("wire {}{of} = {value};", range(*bits)));
            }
        }
        let start = out.finish();
        let mut out = Writer::at(1);
        self.register_lists(&mut out);
        if let Some(width) = shape.division {
            divide::instance(&mut out, &names.module, width);
        }
        self.accesses(&mut out);
        self.common.functions.write(&mut out);
        out.raw(&execution.start);
        let declared = out.finish();
        let mut out = Writer::at(1);
        out.raw(&execution.after);
        self.retire(&mut out);
        self.clock(&mut out);
        out.close("endmodule");
        out.blank();
        self.forget_accesses(&mut out);
        if shape.division.is_some() {
            divide::unit(&mut out, &names.module);
        }
        out.line("`default_nettype wire\n/* verilator lint_on UNUSEDSIGNAL */");
        (start, declared, out.finish())
    }

    /// The instruction, as many cells as the longest has, and what of it is an operand.
    fn window(&self, out: &mut Writer) {
        let code = self.isa.pc.memory;
        let (cell, lanes) = (self.isa.memory(code).cell.bits(), self.shape.lanes[code.index()]);
        let value = format!("{}_value", self.shape.names.memory(code));
        let cells: Vec<String> =
            (0..self.isa.longest()).map(|at| select(&value, cell * lanes, at * cell, cell)).collect();
        let value = if cells.len() == 1 { cells.concat() } else { format!("{{{}}}", cells.join(", ")) };
        let fetched = number(self.common.step_bits, u64::from(self.common.fetched));
        out.line("// The instruction, and its operands.");
        out.line(format!(
            "wire {}window = step == {fetched} ? {value} : window_q;",
            range(Shape::window_bits(self.isa))
        ));
        self.shape.operands.write(self.isa, self.shape, out);
        out.blank();
    }

    /// How operands that name registers are read and written.
    fn register_lists(&self, out: &mut Writer) {
        for (id, field) in (0..).map(FieldId).zip(&self.isa.fields) {
            let Domain::Registers(list) = &field.domain else { continue };
            if shape::register_list(self.isa, id) != id {
                continue;
            }
            let name = self.shape.names.field(id);
            let (bits, width) = (field.width.bits(), field.value_width(self.isa.pc.width).bits());
            out.open(format!("task read_{name}(input {}code, output {}value);", range(bits), range(width)));
            out.open("case (code)");
            for (code, entry) in list.iter().enumerate() {
                if let Some((_, place)) = entry {
                    out.line(format!("{}: value = {};", number(bits, code as u64), self.place(place)));
                }
            }
            out.line(format!("default: value = {};", number(width, 0)));
            out.close("endcase");
            out.close("endtask");
            out.blank();
            out.open(format!("task write_{name}(input {}code, input {}value);", range(bits), range(width)));
            out.open("case (code)");
            for (code, entry) in list.iter().enumerate() {
                let assignments = entry.as_ref().map(|(_, place)| self.assignments(place)).unwrap_or_default();
                match assignments.as_slice() {
                    [] => {}
                    [one] => out.line(format!("{}: {one}", number(bits, code as u64))),
                    several => out.line(format!("{}: begin {} end", number(bits, code as u64), several.join(" "))),
                }
            }
            out.line("default: ;");
            out.close("endcase");
            out.close("endtask");
            out.blank();
            if self.common.late.contains(&id) {
                out.line("// What an instruction writes after everything else.");
                out.line(format!(
                    "reg {name}_write;\nreg {}{name}_address;\nreg {}{name}_data;",
                    range(bits),
                    range(width)
                ));
                out.blank();
            }
        }
    }

    fn place(&self, place: &Place) -> String {
        let part = |part: &lathe_isa::model::Part| {
            let register = self.isa.register(part.register);
            match register.constant {
                true => number(part.width.bits(), part.width.wrap(register.reset >> part.low)),
                false => {
                    select(self.shape.names.register(part.register), register.width.bits(), part.low, part.width.bits())
                }
            }
        };
        let parts: Vec<String> = place.parts.iter().map(part).collect();
        if parts.len() == 1 { parts[0].clone() } else { format!("{{{}}}", parts.join(", ")) }
    }

    fn assignments(&self, place: &Place) -> Vec<String> {
        let mut above = place.width.bits();
        let mut all = Vec::new();
        for part in &place.parts {
            above -= part.width.bits();
            let register = self.isa.register(part.register);
            if register.constant {
                continue;
            }
            let (name, bits) = (self.shape.names.register(part.register), register.width.bits());
            let value = select("value", place.width.bits(), above, part.width.bits());
            if place.clearing && part.width != register.width {
                all.push(format!("{name} = {};", number(bits, 0)));
            }
            all.push(format!("{} = {value};", select(name, bits, part.low, part.width.bits())));
        }
        all
    }

    fn retire(&self, out: &mut Writer) {
        let names = &self.shape.names;
        out.line("// The retire port: what has been done, for whoever looks on.");
        out.line("assign retire = !reset && !stop;");
        out.line(format!("assign retire_pc = {};\nassign retire_bits = window;", names.pc));
        out.line("assign retire_next = jump ? target : next;");
        let replaced = if self.isa.on_step.is_some() { "replaced" } else { "1'b0" };
        out.line(format!("assign retire_replaced = {replaced};"));
        if self.shape.register_bits > 0 {
            let all: Vec<&str> = self.shape.registers.iter().rev().map(|(id, _)| names.register(*id)).collect();
            out.line(format!("assign retire_registers = {{{}}};", all.join(", ")));
        }
        if self.isa.has_cycles {
            out.line("assign retire_cycles = cycles;");
        }
        out.blank();
    }

    fn clock(&self, out: &mut Writer) {
        let names = &self.shape.names;
        out.open("always @(posedge clk) begin");
        out.open("if (reset) begin");
        out.line(format!("{} <= reset_pc;", names.pc));
        for (id, low) in &self.shape.registers {
            let value = select("reset_registers", self.shape.register_bits, *low, self.isa.register(*id).width.bits());
            out.line(format!("{}_q <= {value};", names.register(*id)));
        }
        out.line(format!("step <= {};\nhalted <= 1'b0;\nfaulted <= 1'b0;", number(self.common.step_bits, 0)));
        out.line(format!(
            "faulted_code <= {};\nfaulted_detail <= {};",
            number(self.shape.fault_bits(), 0),
            number(self.shape.detail_bits, 0)
        ));
        out.turn("end else begin");
        out.line("window_q <= window;");
        for (_, name) in loaded(self.isa, self.shape, self.common) {
            out.line(format!("{name}_q <= {name};"));
        }
        out.open("if (fault) begin");
        let start = number(self.common.step_bits, 0);
        out.line("faulted <= 1'b1;\nfaulted_code <= fault_code;\nfaulted_detail <= fault_detail;");
        out.line(format!("step <= {start};"));
        out.turn("end else if (stop) begin");
        out.line("step <= step_next;");
        out.turn("end else begin");
        out.line(format!("{} <= retire_next;", names.pc));
        for (id, _) in &self.shape.registers {
            out.line(format!("{0}_q <= {0};", names.register(*id)));
        }
        out.line(format!("step <= {start};\nhalted <= halt;"));
        out.close("end");
        out.close("end");
        out.close("end");
    }
}

/// What stays from one step to the next, with its bits.
fn loaded(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    [common.loaded(), maps::found(isa, shape, common)].concat()
}

/// What is computed anew in every cycle, with its bits.
fn computed(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    [common.computed(), maps::said(isa, shape, common)].concat()
}

/// The block that executes.
struct Execution<'a> {
    isa: &'a Isa,
    sources: &'a [Source],
    shape: &'a Shape,
    common: &'a mut Common,
    in_parts: bool,
}

impl Execution<'_> {
    fn write(mut self) -> Text {
        // What has to be cleared is known only when everything else has been written.
        let mut mapped = Writer::at(2);
        maps::write(self.isa, self.shape, self.common, &mut mapped);
        let mut first = Writer::at(2);
        let (hook, way) = self.hook(&mut first);
        let mut rest = Writer::at(2);
        if self.isa.on_step.is_some() {
            rest.line("end\nreplaced = jump;");
            rest.blank();
        }
        let way = self.fetch(&mut rest, way);
        self.shape.operands.read(self.isa, self.shape, &mut rest);
        rest.blank();
        // While the fetch is under way nothing can be done here, and after `on step` has jumped nothing is. Not trying saves
        // simulators and solvers much work.
        rest.open(if self.isa.on_step.is_some() { "if (!stop && !replaced) begin" } else { "if (!stop) begin" });
        let (cases, arms) = if self.in_parts { self.parts(&way) } else { self.instructions(&way) };
        let mut out = Writer::at(1);
        if self.isa.on_step.is_some() {
            out.line("reg replaced;");
        }
        out.open("always @* begin : execute");
        self.defaults(&mut out);
        let mut end = Writer::at(rest.depth());
        end.close("end");
        end.raw(&mapped.finish());
        for list in self.common.late.iter().map(|list| self.shape.names.field(*list)) {
            end.line(format!("if ({list}_write) write_{list}({list}_address, {list}_data);"));
        }
        end.close("end");
        end.blank();
        out.raw(&first.finish());
        let hook_jumps =
            self.isa.on_step.as_ref().is_some_and(|hook| always_jumps(&hook.body.block) && !hook.body.effects().faults);
        let (start, before, after) = (out.finish(), rest.finish(), end.finish());
        Text { start, hook, hook_jumps, before, cases, arms, after, ..Text::default() }
    }

    fn defaults(&self, out: &mut Writer) {
        let (isa, names) = (self.isa, &self.shape.names);
        for (id, _) in &self.shape.registers {
            out.line(format!("{0} = {0}_q;", names.register(*id)));
        }
        let (loaded, computed) = (loaded(isa, self.shape, self.common), computed(isa, self.shape, self.common));
        loaded.iter().for_each(|(_, name)| out.line(format!("{name} = {name}_q;")));
        computed.iter().for_each(|(bits, name)| out.line(format!("{name} = {};", number(*bits, 0))));
        for list in &self.common.late {
            let field = isa.field(*list);
            let (name, bits) = (names.field(*list), field.width.bits());
            let width = field.value_width(isa.pc.width).bits();
            out.line(format!(
                "{name}_write = 1'b0;\n{name}_address = {};\n{name}_data = {};",
                number(bits, 0),
                number(width, 0)
            ));
        }
        out.line(format!("step_next = step;\nstop = halted || faulted;\nbusy = 1'b0;\njump = 1'b0;\nhalt = 1'b0;\nfault = 1'b0;\ntarget = {0};\nnext = {0};", names.pc));
        out.line(format!(
            "fault_code = {};\nfault_detail = {};",
            number(self.shape.fault_bits(), 0),
            number(self.shape.detail_bits, 0)
        ));
        if isa.has_cycles {
            out.line("cycles = 64'd0;");
        }
        if isa.on_step.is_some() {
            out.line("replaced = 1'b0;");
        }
        let outputs = ports(isa, self.shape).into_iter().filter(|port| !port.is_input);
        for port in outputs.take_while(|port| port.name != "retire") {
            out.line(format!("{} = {};", port.name, number(port.bits, 0)));
        }
        if let Some(width) = self.shape.division {
            divide::defaults(out, width);
        }
        out.blank();
    }

    /// What is done before an instruction: when, and what.
    fn hook(&mut self, out: &mut Writer) -> (String, Way) {
        let Some(hook) = &self.isa.on_step else { return (String::new(), Way::default()) };
        out.line("// on step");
        let mut when = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth());
        // It is asked before every instruction, and all of them would have to wait.
        when.may_divide_slowly = false;
        let condition = when.body(&hook.when, &[]).unwrap_or_else(|| "1'b0".to_owned());
        let (text, _) = when.finish();
        out.raw(&text);
        out.open(format!("if (!stop && {condition}) begin"));
        let mut body = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth());
        body.whole(&hook.body);
        let (text, way) = body.finish();
        self.common.steps = self.common.steps.max(way.site);
        self.common.on_step = changed(self.isa, &hook.body.block);
        (text, way)
    }

    fn fetch(&mut self, out: &mut Writer, mut way: Way) -> Way {
        let (memory, pc) = (self.shape.names.memory(self.isa.pc.memory), &self.shape.names.pc);
        let access = format!("`{memory}_load({}, {pc})", number(self.common.step_bits, u64::from(way.site)));
        if self.isa.on_step.is_some() {
            out.open("if (!replaced) begin");
            out.line(access);
            out.close("end");
        } else {
            out.line(access);
        }
        way.site += 1;
        self.common.fetched = way.site;
        self.common.steps = self.common.steps.max(way.site);
        way
    }

    /// What each instruction does, in one piece.
    fn instructions(&mut self, way: &Way) -> (Vec<Case>, Vec<Vec<Option<usize>>>) {
        let mut arms = Vec::new();
        let mut row = None;
        for (id, instruction) in (0..).map(InstructionId).zip(&self.isa.instructions) {
            let mut out = Writer::at(CASES + 1);
            if row.replace(instruction.row) != Some(instruction.row) {
                self.row(&mut out, id);
            }
            out.open(format!("{}: begin", self.shape.names.instruction(id)));
            let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
            lowering.length(id);
            lowering.instruction(id);
            let (text, done) = lowering.finish();
            self.common.steps = self.common.steps.max(done.site);
            self.common.accesses.push(done.site);
            out.raw(&text);
            out.close("end");
            arms.push(out.finish());
        }
        arms.push(self.undefined(way));
        let count = arms.len();
        let bits = lathe_base::Width::to_tell_apart(count).bits();
        (vec![Case { of: "instruction".to_owned(), bits, arms }], (0..count).map(|arm| vec![Some(arm)]).collect())
    }

    /// What each instruction does, in parts that others may share.
    fn parts(&mut self, way: &Way) -> (Vec<Case>, Vec<Vec<Option<usize>>>) {
        let ids = (0..self.isa.instructions.len() as u32).map(InstructionId);
        let mut doing: Vec<(InstructionId, Option<Doing>)> = ids.map(|id| (id, Doing::new(self.isa, id))).collect();
        let mut accesses = vec![way.site; doing.len()];
        let (mut cases, mut arms) = (Vec::new(), vec![Vec::new(); doing.len() + 1]);
        let mut start = way.clone();
        for (at, part) in std::iter::once("length").chain(PARTS).enumerate() {
            let mut shared: Vec<(String, Vec<InstructionId>)> = Vec::new();
            let mut known: BTreeMap<String, usize> = BTreeMap::new();
            let mut furthest = start.clone();
            for (id, doing) in &mut doing {
                let mut lowering = Lowering::new(self.isa, self.shape, self.common, start.clone(), CASES + 2);
                match (at, doing) {
                    (0, _) => lowering.length(*id),
                    (_, Some(doing)) => lowering.part(*id, doing, at - 1),
                    (1, None) => lowering.instruction(*id),
                    (_, None) => {}
                }
                let (text, done) = lowering.finish();
                accesses[id.index()] += done.site - start.site;
                furthest.join(&done);
                let arm = (!text.is_empty()).then(|| {
                    *known.entry(text.clone()).or_insert_with(|| {
                        shared.push((text, Vec::new()));
                        shared.len() - 1
                    })
                });
                arm.iter().for_each(|arm| shared[*arm].1.push(*id));
                arms[id.index()].push(arm);
            }
            let bits = lathe_base::Width::to_tell_apart(shared.len() + 1).bits();
            let mut texts: Vec<String> = shared
                .iter()
                .enumerate()
                .map(|(arm, (text, users))| {
                    self.shared(number(bits, arm as u64 + 1), text, if at == 0 { &[] } else { users })
                })
                .collect();
            if at == 0 {
                texts.push(self.undefined(way));
            }
            cases.push(Case { of: part.to_owned(), bits, arms: texts });
            // Nothing but what has a name is handed on.
            start = furthest.with_temporaries_of(way);
        }
        let undefined = self.common.accesses.pop();
        self.common.accesses.extend(accesses.into_iter().chain(undefined));
        self.common.steps = self.common.steps.max(start.site);
        let last = cases[0].arms.len() - 1;
        arms[doing.len()] = vec![Some(last), None, None, None, None];
        (cases, arms)
    }

    /// An arm of several instructions.
    fn shared(&self, number: String, text: &str, users: &[InstructionId]) -> String {
        let mut out = Writer::at(CASES + 1);
        let mut rows: Vec<InstructionId> = users.to_vec();
        rows.dedup_by_key(|id| self.isa.instruction(*id).row);
        match rows.as_slice() {
            [] => {}
            [only] => self.row(&mut out, *only),
            several => {
                let shown = if several.len() > MOST_ROWS { MOST_ROWS - 1 } else { several.len() };
                let mut names: Vec<String> = several[..shown].iter().map(|id| self.syntax(*id).to_owned()).collect();
                if shown < several.len() {
                    names.push(format!("and {} other rows", several.len() - shown));
                }
                out.line(format!("// {}", names.join("; ")));
            }
        }
        out.open(format!("{number}: begin"));
        out.raw(text);
        out.close("end");
        out.finish()
    }

    /// The text of an instruction's row.
    fn text(&self, id: InstructionId) -> &str {
        let span = self.isa.instruction(id).span;
        let file = self.sources.get(span.file.0 as usize);
        file.and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// How a row is written in programs.
    fn syntax(&self, id: InstructionId) -> &str {
        let text = self.text(id);
        text.split_once('|').map_or(text, |(syntax, _)| syntax).trim()
    }

    /// The row of an instruction as a comment.
    fn row(&self, out: &mut Writer, id: InstructionId) {
        self.text(id).lines().for_each(|line| out.line(format!("// {}", line.trim())));
    }

    /// What is done at bits that no row has.
    fn undefined(&mut self, way: &Way) -> String {
        let mut out = Writer::at(CASES + 1);
        out.line("// no row has these bits");
        out.open(OTHERWISE);
        let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
        match &self.isa.on_illegal {
            Some(body) => drop(lowering.whole(body)),
            None => lowering.fault(shape::UNDEFINED, None),
        }
        let (text, done) = lowering.finish();
        self.common.steps = self.common.steps.max(done.site);
        self.common.accesses.push(done.site);
        out.raw(&text);
        out.close("end");
        out.finish()
    }
}

/// So many rows are named at an arm that they share.
const MOST_ROWS: usize = 5;

/// Whether a block goes on elsewhere, whatever way is taken through it.
fn always_jumps(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Jump(_) => true,
        Statement::If { then, otherwise, .. } => always_jumps(then) && always_jumps(otherwise),
        _ => false,
    })
}

/// Registers that a block may change when it does not go on elsewhere.
fn changed(isa: &Isa, block: &Block) -> BTreeSet<RegisterId> {
    if always_jumps(block) {
        return BTreeSet::new();
    }
    let changed = |statement: &Statement| match statement {
        Statement::If { then, otherwise, .. } => &changed(isa, then) | &changed(isa, otherwise),
        _ => {
            let effects = statement.effects();
            let mapped = isa.maps.iter().filter(|map| effects.stores.contains(&map.memory));
            mapped.flat_map(|map| map.write.effects().writes).chain(effects.writes).collect()
        }
    };
    block.iter().flat_map(changed).collect()
}
