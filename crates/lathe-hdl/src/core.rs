//! The module of the core: ports, registers, the combinational block that executes, and the clock that makes it final.

use std::collections::BTreeSet;

use lathe_base::Source;
use lathe_isa::Isa;
use lathe_isa::encoding::Cube;
use lathe_isa::model::{Domain, FieldId, Instruction, InstructionId, MemoryId, Place, RegisterId};
use lathe_isa::semantics::{Block, Statement};

use crate::body::{Common, Lowering, Way};
use crate::divide;
use crate::expression::{number, range, select};
use crate::maps;
use crate::names::Names;
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
    /// What each instruction does, in order; what is done at bits that no row has, last.
    arms: Vec<String>,
    after: String,
}

impl Text {
    /// The core.
    pub(crate) fn whole(&self) -> String {
        let decode = self.decode.of(&self.decode.rows);
        let arms = self.arms.concat();
        format!("{}{decode}{}{}{}{arms}{}", self.start, self.declared, self.hook, self.before, self.after)
    }

    /// The core with one arm only, and with what `on step` does in place of an instruction only in the last. Other rows are not decoded.
    /// It gets stuck where the whole would go to another.
    pub(crate) fn slice(&self, at: usize) -> Option<String> {
        let arm = self.arms.get(at)?.replacen(OTHERWISE, "ILLEGAL: begin", 1);
        let decode = self.decode.of(self.decode.rows.get(at).map_or(&[], std::slice::from_ref));
        let others = "      default: stop = 1'b1; // what the core does with other bits is left out\n";
        let hook = match self.hook_jumps && at + 1 < self.arms.len() {
            true => "      jump = 1'b1; stop = 1'b1; // what the core does on step is left out\n",
            false => &self.hook,
        };
        let (start, declared) = (&self.start, &self.declared);
        Some(format!("{start}{decode}{declared}{hook}{}{arm}{others}{}", self.before, self.after))
    }

    /// What decodes, as a module of its own.
    pub(crate) fn decoder(&self, module: &str) -> String {
        let Decode { bits, window, rows } = &self.decode;
        let ports = format!("input wire {}window, output reg {}instruction", range(*window), range(*bits));
        format!("module {module} ({ports});\n{}endmodule\n", self.decode.of(rows))
    }
}

/// From the bits to the number of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decode {
    /// The bits of such a number.
    bits: u32,
    /// The bits that are looked at.
    window: u32,
    rows: Vec<DecodeRow>,
}

/// A row of the definition in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DecodeRow {
    /// The declaration of its number.
    number: String,
    /// The bits that tell it, with its number, if nothing is excepted of them.
    pattern: Option<String>,
    /// The same, if something is.
    test: Option<String>,
}

impl Decode {
    fn new(isa: &Isa, names: &Names) -> Decode {
        let (bits, window, cell) = (instruction_bits(isa), Shape::window_bits(isa), isa.code_memory().cell.bits());
        let row = |(at, instruction): (u32, &Instruction)| {
            let name = names.instruction(InstructionId(at));
            let encoding = &instruction.encoding;
            let (fixed, is_whole) = (encoding.fixed, encoding.excluded.is_empty());
            let excluded = encoding.excluded.iter().map(|cube| format!(" && !({})", test(*cube, window)));
            let number = format!("localparam {}{name} = {};", range(bits), number(bits, u64::from(at) + 1));
            let pattern = || format!("{window}'b{}: instruction = {name};", pattern(fixed, window, cell));
            let test = || format!("if ({}{}) instruction = {name};", test(fixed, window), excluded.collect::<String>());
            DecodeRow { number, pattern: is_whole.then(pattern), test: (!is_whole).then(test) }
        };
        Decode { bits, window, rows: (0..).zip(&isa.instructions).map(row).collect() }
    }

    /// What decodes some rows. They are disjoint, so their order does not matter.
    fn of(&self, rows: &[DecodeRow]) -> String {
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

/// How the arm for bits that no row has begins.
const OTHERWISE: &str = "default: begin";

/// The text of the core, and how many accesses each of its instructions makes at most.
pub(crate) fn module(isa: &Isa, sources: &[Source], shape: &Shape) -> (Text, Vec<u32>) {
    let mut common = Common { step_bits: 1, ..Common::default() };
    // The first writing finds out how many steps there are, which the second needs to know.
    Execution::new(isa, sources, shape, &mut common).write();
    let bits = u32::BITS - common.steps.leading_zeros();
    let mut common = Common { step_bits: bits.max(1), ..Common::default() };
    let execution = Execution::new(isa, sources, shape, &mut common).write();
    let mut out = Writer::default();
    let core = Core { isa, shape, common: &common };
    core.header(&mut out);
    core.ports(&mut out);
    let (start, declared, after) = core.inside(&execution);
    out.raw(&start);
    let decode = Decode::new(isa, &shape.names);
    (Text { start: out.finish(), decode, declared, after, ..execution }, common.accesses)
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
    fn header(&self, out: &mut Writer) {
        out.line(format!("// {}: {}", self.isa.name, self.isa.title));
        out.line("// Written by `lathe hdl` from the definition: change that, not this.");
        out.line("//\n// In every clock cycle the block `execute` does an instruction from its beginning, as the definition says it,");
        out.line("// up to the first access to a memory or device that has not been done: `step` tells which have. That access is what");
        out.line("// the cycle is for. When all are done the instruction retires, and only then the registers (`..._q`) change.");
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
        out.line(format!("reg {}instruction;", range(instruction_bits(isa))));
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

/// How many bits tell the instructions apart, with one for what is none.
fn instruction_bits(isa: &Isa) -> u32 {
    lathe_base::Width::to_tell_apart(isa.instructions.len() + 1).bits()
}

/// The block that executes.
struct Execution<'a> {
    isa: &'a Isa,
    sources: &'a [Source],
    shape: &'a Shape,
    common: &'a mut Common,
}

impl<'a> Execution<'a> {
    fn new(isa: &'a Isa, sources: &'a [Source], shape: &'a Shape, common: &'a mut Common) -> Self {
        Execution { isa, sources, shape, common }
    }

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
        rest.open("case (instruction)");
        let arms = self.arms(rest.depth(), &way);
        let mut out = Writer::at(1);
        if self.isa.on_step.is_some() {
            out.line("reg replaced;");
        }
        out.open("always @* begin : execute");
        self.defaults(&mut out);
        let mut end = Writer::at(rest.depth());
        end.close("endcase");
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
        Text { start, hook, hook_jumps, before, arms, after, ..Text::default() }
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

    /// What each instruction does, and bits that no row has.
    fn arms(&mut self, depth: usize, way: &Way) -> Vec<String> {
        let mut arms = Vec::new();
        let mut row = None;
        for (id, instruction) in (0..).map(InstructionId).zip(&self.isa.instructions) {
            let mut out = Writer::at(depth);
            if row != Some(instruction.row) {
                row = Some(instruction.row);
                let file = self.sources.get(instruction.span.file.0 as usize);
                let text = file.and_then(|file| file.text.get(instruction.span.range())).unwrap_or_default();
                text.lines().for_each(|line| out.line(format!("// {}", line.trim())));
            }
            let name = self.shape.names.instruction(id).to_owned();
            out.open(format!("{name}: begin"));
            let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
            lowering.instruction(id);
            let done = lowering.finish();
            arms.push(self.arm(out, done));
        }
        let mut out = Writer::at(depth);
        out.line("// no row has these bits");
        out.open(OTHERWISE);
        let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
        match &self.isa.on_illegal {
            Some(body) => drop(lowering.whole(body)),
            None => lowering.fault(shape::UNDEFINED, None),
        }
        let done = lowering.finish();
        arms.push(self.arm(out, done));
        arms
    }

    fn arm(&mut self, mut out: Writer, (text, way): (String, Way)) -> String {
        self.common.steps = self.common.steps.max(way.site);
        self.common.accesses.push(way.site);
        out.raw(&text);
        out.close("end");
        out.finish()
    }
}

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

/// The bits of a row: 0, 1, and ? where an operand is, with a mark between cells.
fn pattern(cube: Cube, window: u32, cell: u32) -> String {
    let mut text = String::new();
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

/// Whether the window is in a set.
fn test(cube: Cube, window: u32) -> String {
    let digits = (window as usize).div_ceil(4);
    let (mask, value) = (cube.mask >> (128 - window), cube.value >> (128 - window));
    format!("(window & {window}'h{mask:0digits$X}) == {window}'h{value:0digits$X}")
}
