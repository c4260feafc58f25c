//! The module of the core: ports, registers, the combinational block that executes, and the clock that makes it final.

use lathe_base::Source;
use lathe_isa::Isa;
use lathe_isa::encoding::Cube;
use lathe_isa::model::{Domain, FieldId, InstructionId, MemoryId, Place};

use crate::body::{Common, Lowering, Way};
use crate::divide;
use crate::expression::{number, range, select};
use crate::shape::{self, Shape};
use crate::writer::Writer;

/// The text of a core, with the place where what instructions do stands taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    before: String,
    /// What each instruction does, in order; what is done at bits that no row has, last.
    arms: Vec<String>,
    after: String,
}

impl Text {
    /// The core.
    pub(crate) fn whole(&self) -> String {
        format!("{}{}{}", self.before, self.arms.concat(), self.after)
    }

    /// The core with one arm only. It gets stuck where the whole would go to another.
    pub(crate) fn slice(&self, at: usize) -> Option<String> {
        let arm = self.arms.get(at)?.replacen(OTHERWISE, &format!("ILLEGAL: {ILLEGAL_ARM}"), 1);
        let others = "      default: stop = 1'b1; // what the core does with other bits is left out\n";
        Some(format!("{}{arm}{others}{}", self.before, self.after))
    }
}

/// How the arm for bits that no row has begins, and where it stands.
const ILLEGAL_ARM: &str = "begin : do_illegal";
const OTHERWISE: &str = "default: begin : do_illegal";

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
    let (before, after) = core.inside(&execution);
    out.raw(&before);
    (Text { before: out.finish(), arms: execution.arms, after }, common.accesses)
}

struct Core<'a> {
    isa: &'a Isa,
    shape: &'a Shape,
    common: &'a Common,
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
        out.line("// An instruction may compute bits that nobody looks at, and names inside it have a value only while it is executed.");
        out.line("/* verilator lint_off UNUSEDSIGNAL */\n/* verilator lint_off LATCH */");
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

    /// What stands before and after what instructions do.
    fn inside(&self, execution: &Text) -> (String, String) {
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
        out.line(format!("reg {}step;\nreg {}step_next;", range(self.common.step_bits), range(self.common.step_bits)));
        out.line("reg stop; // nothing after this can be done in this cycle\nreg busy; // this cycle has its access");
        out.blank();
        out.line("// What it has read, and what divisions gave.");
        let window = Shape::window_bits(isa);
        out.line(format!("reg {}window;\nreg {}window_q;", range(window), range(window)));
        for (bits, name) in self.latches() {
            out.line(format!("reg {}{name};\nreg {}{name}_q;", range(bits), range(bits)));
        }
        out.blank();
        self.instruction_numbers(&mut out);
        self.register_lists(&mut out);
        if let Some(width) = shape.division {
            divide::instance(&mut out, &names.module, width);
        }
        self.tasks(&mut out);
        self.common.functions.write(&mut out);
        out.raw(&execution.before);
        let before = out.finish();
        let mut out = Writer::at(1);
        out.raw(&execution.after);
        self.retire(&mut out);
        self.clock(&mut out);
        out.close("endmodule");
        out.blank();
        if shape.division.is_some() {
            divide::unit(&mut out, &names.module);
        }
        out.line("`default_nettype wire\n/* verilator lint_on UNUSEDSIGNAL */\n/* verilator lint_on LATCH */");
        (before, out.finish())
    }

    fn latches(&self) -> Vec<(u32, String)> {
        let all = self.common.latches.iter();
        all.flat_map(|(bits, count)| (0..*count).map(move |slot| (*bits, format!("load{bits}_{slot}")))).collect()
    }

    fn instruction_numbers(&self, out: &mut Writer) {
        let bits = instruction_bits(self.isa);
        out.line(format!("reg {}instruction;", range(bits)));
        out.line(format!("localparam {}ILLEGAL = {};", range(bits), number(bits, 0)));
        for at in 0..self.isa.instructions.len() {
            let name = self.shape.names.instruction(InstructionId(at as u32));
            out.line(format!("localparam {}{name} = {};", range(bits), number(bits, at as u64 + 1)));
        }
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
            out.open(format!("function {}read_{name}(input {}code);", range(width), range(bits)));
            out.open("case (code)");
            for (code, entry) in list.iter().enumerate() {
                if let Some((_, place)) = entry {
                    out.line(format!("{}: read_{name} = {};", number(bits, code as u64), self.place(place)));
                }
            }
            out.line(format!("default: read_{name} = {};", number(width, 0)));
            out.close("endcase");
            out.close("endfunction");
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

    /// One task for each kind of access. A task does nothing if its access has been done or is not to be done yet.
    fn tasks(&self, out: &mut Writer) {
        let step = range(self.common.step_bits);
        for (id, memory) in (0..).map(MemoryId).zip(&self.isa.memories) {
            let name = self.shape.names.memory(id);
            let (address, lanes) = (range(memory.address.bits()), self.shape.lanes[id.index()]);
            let cells = range(lanes * memory.cell.bits());
            let (taken, ready) = if memory.is_large() { ("if (ready) ", ", input ready") } else { ("", "") };
            let one = number(self.common.step_bits, 1);
            out.open(format!("task {name}_load(input {step}at, input {address}address{ready});"));
            out.open("if (!stop && step <= at) begin");
            out.open("if (!busy) begin");
            out.line(format!("{name}_read = 1'b1;\n{name}_address = address;\n{taken}step_next = at + {one};"));
            out.close("end");
            out.line("stop = 1'b1; // the value comes in the next cycle");
            out.close("end");
            out.close("endtask");
            out.blank();
            out.open(format!(
                "task {name}_store(input {step}at, input {address}address, input {}lanes, input {cells}data{ready});",
                range(lanes)
            ));
            out.open("if (!stop && step <= at) begin");
            out.open("if (busy) stop = 1'b1; else begin");
            out.line(format!("{name}_write = lanes;\n{name}_address = address;\n{name}_data = data;\nbusy = 1'b1;"));
            if memory.is_large() {
                out.line(format!("if (ready) step_next = at + {one}; else stop = 1'b1;"));
            } else {
                out.line(format!("step_next = at + {one};"));
            }
            out.close("end");
            out.close("end");
            out.close("endtask");
            out.blank();
        }
        for (id, operation) in &self.shape.operations {
            self.device_task(out, *id, operation);
        }
        if let Some(width) = self.shape.division {
            divide::task(out, width, self.common.step_bits);
        }
    }

    fn device_task(&self, out: &mut Writer, id: lathe_isa::model::DeviceId, operation: &lathe_isa::model::Operation) {
        if !shape::is_asked(self.isa, id, operation) {
            return;
        }
        let port = format!("{}_{}", self.shape.names.device(id), operation.operation.name());
        let names = shape::argument_names(self.isa.devices[id.index()].kind, operation.operation);
        let waits = shape::may_wait(self.isa, id, operation.operation);
        let mut inputs = vec![format!("input {}at", range(self.common.step_bits))];
        inputs.extend(
            names.iter().zip(&operation.arguments).map(|(name, width)| format!("input {}{name}", range(width.bits()))),
        );
        if waits {
            inputs.push("input ready".to_owned());
        }
        let one = number(self.common.step_bits, 1);
        out.open(format!("task do_{port}({});", inputs.join(", ")));
        out.open("if (!stop && step <= at) begin");
        out.open("if (busy) stop = 1'b1; else begin");
        out.line(format!("{port} = 1'b1;"));
        names.iter().for_each(|name| out.line(format!("{port}_{name} = {name};")));
        out.line("busy = 1'b1;");
        match (waits, shape::answers_later(operation)) {
            (true, false) => out.line(format!("if (ready) step_next = at + {one}; else stop = 1'b1;")),
            (false, false) => out.line(format!("step_next = at + {one};")),
            (true, true) => out.line(format!(
                "if (ready) step_next = at + {one};\nstop = 1'b1; // the answer comes in the next cycle"
            )),
            (false, true) => {
                out.line(format!("step_next = at + {one};\nstop = 1'b1; // the answer comes in the next cycle"))
            }
        }
        out.close("end");
        out.close("end");
        out.close("endtask");
        out.blank();
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
        for (_, name) in self.latches() {
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
        let mut rest = Writer::at(2);
        let way = self.hook(&mut rest);
        let way = self.fetch(&mut rest, way);
        self.decode(&mut rest);
        rest.line("// execute");
        if self.isa.on_step.is_some() {
            rest.open("if (!replaced) begin");
        }
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
        if self.isa.on_step.is_some() {
            end.close("end");
        }
        end.close("end");
        end.blank();
        out.raw(&rest.finish());
        Text { before: out.finish(), arms, after: end.finish() }
    }

    fn defaults(&self, out: &mut Writer) {
        let (isa, names) = (self.isa, &self.shape.names);
        for (id, _) in &self.shape.registers {
            out.line(format!("{0} = {0}_q;", names.register(*id)));
        }
        out.line("window = window_q;");
        for (bits, count) in &self.common.latches {
            (0..*count).for_each(|slot| out.line(format!("load{bits}_{slot} = load{bits}_{slot}_q;")));
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

    /// What is done before an instruction.
    fn hook(&mut self, out: &mut Writer) -> Way {
        let Some(hook) = &self.isa.on_step else { return Way::default() };
        out.line("// on step");
        let mut when = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth() + 1);
        // It is asked before every instruction, and all of them would have to wait.
        when.may_divide_slowly = false;
        let condition = when.body(&hook.when, &[]).unwrap_or_else(|| "1'b0".to_owned());
        let (declarations, text, _) = when.finish();
        out.open("begin : on_step");
        declare(out, &declarations);
        out.raw(&text);
        out.open(format!("if ({condition}) begin : do_on_step"));
        let mut body = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth());
        body.whole(&hook.body);
        let (declarations, text, way) = body.finish();
        self.common.steps = self.common.steps.max(way.site);
        declare(out, &declarations);
        out.raw(&text);
        out.close("end");
        out.line("replaced = jump;");
        out.close("end");
        out.blank();
        way
    }

    /// The cells of the instruction, as many as the longest has.
    fn fetch(&mut self, out: &mut Writer, mut way: Way) -> Way {
        let code = self.isa.pc.memory;
        let (memory, name) = (self.isa.memory(code), self.shape.names.memory(code));
        let (cell, lanes) = (memory.cell.bits(), self.shape.lanes[code.index()]);
        let bits = self.common.step_bits;
        let ready = if memory.is_large() { format!(", {name}_ready") } else { String::new() };
        let mut cells = (0..self.isa.longest())
            .map(|at| select(&format!("{name}_value"), cell * lanes, at * cell, cell))
            .collect::<Vec<_>>();
        let value = if cells.len() == 1 { cells.remove(0) } else { format!("{{{}}}", cells.join(", ")) };
        if self.isa.on_step.is_some() {
            out.line("// fetch, unless `on step` went elsewhere\nif (!jump) begin");
            out.line(format!("  {name}_load({}, {}{ready});", number(bits, u64::from(way.site)), self.shape.names.pc));
            out.line("end");
        } else {
            out.line("// fetch");
            out.line(format!("{name}_load({}, {}{ready});", number(bits, u64::from(way.site)), self.shape.names.pc));
        }
        way.site += 1;
        self.common.steps = self.common.steps.max(way.site);
        out.line(format!("if (step == {}) window = {value};", number(bits, u64::from(way.site))));
        out.blank();
        way
    }

    /// From the bits to the number of the instruction. Rows are disjoint, so their order does not matter.
    fn decode(&self, out: &mut Writer) {
        out.line("// decode");
        out.line("instruction = ILLEGAL;");
        let window = Shape::window_bits(self.isa);
        let rows = || (0..).map(InstructionId).zip(&self.isa.instructions);
        out.open("casez (window)");
        for (id, instruction) in rows().filter(|(_, instruction)| instruction.encoding.excluded.is_empty()) {
            let cell = self.isa.code_memory().cell.bits();
            out.line(format!(
                "{window}'b{}: instruction = {};",
                pattern(instruction.encoding.fixed, window, cell),
                self.shape.names.instruction(id)
            ));
        }
        out.line("default: ;");
        out.close("endcase");
        for (id, instruction) in rows().filter(|(_, instruction)| !instruction.encoding.excluded.is_empty()) {
            let excluded = instruction.encoding.excluded.iter().map(|cube| format!("!({})", test(*cube, window)));
            let all: Vec<String> = std::iter::once(test(instruction.encoding.fixed, window)).chain(excluded).collect();
            out.line(format!("if ({}) instruction = {};", all.join(" && "), self.shape.names.instruction(id)));
        }
        if self.isa.on_step.is_some() {
            out.line("if (replaced) instruction = ILLEGAL;");
        }
        out.blank();
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
            out.open(format!("{name}: begin : do_{}", name.to_lowercase()));
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

    fn arm(&mut self, mut out: Writer, (declarations, text, way): (Vec<String>, String, Way)) -> String {
        self.common.steps = self.common.steps.max(way.site);
        self.common.accesses.push(way.site);
        declare(&mut out, &declarations);
        out.raw(&text);
        out.close("end");
        out.finish()
    }
}

/// Declarations, then what has to be cleared at the beginning.
fn declare(out: &mut Writer, declarations: &[String]) {
    declarations.iter().filter(|line| !line.starts_with('=')).for_each(|line| out.line(line));
    declarations.iter().filter_map(|line| line.strip_prefix('=')).for_each(|line| out.line(line));
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
