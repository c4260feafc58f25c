//! The module of the core: ports, registers, and the clocked block that commits what the combinational block has
//! computed.

use lathe_base::Source;
use lathe_isa::Isa;
use lathe_isa::model::{Domain, FieldId, MemoryId, Place};

use crate::Form;
use crate::body::Common;
use crate::decode::Decode;
use crate::divide;
use crate::execution::execution;
use crate::expression::{number, range, select};
use crate::maps;
use crate::shape::{self, Shape};
use crate::text::{Case, Text};
use crate::writer::Writer;

/// Returns the text of the core, the most accesses that each of its instructions makes, and the last value of `step`.
pub(crate) fn module(isa: &Isa, sources: &[Source], shape: &Shape, form: Form) -> (Text, Vec<u32>, u32) {
    let (execution, common) = execution(isa, sources, shape, form);
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

pub(crate) struct Core<'a> {
    pub(crate) isa: &'a Isa,
    pub(crate) shape: &'a Shape,
    pub(crate) common: &'a Common,
}

/// A port: its direction, `wire` or `reg`, width and name.
pub(crate) struct Port {
    pub(crate) is_input: bool,
    pub(crate) bits: u32,
    pub(crate) name: String,
    pub(crate) comment: String,
}

/// Returns the ports of a core, in order.
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
            out.line("//\n// Instructions are done in parts, and those that are alike in one of them share it: their length; the first and the second operand,");
            out.line("// read into `in..._...`, with the place of the result, `place..._...`; the operation, which makes `out..._...`; the result, which puts");
            out.line("// it there. The number of an instruction tells which of each it has.");
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

    /// Returns the text before the decoder, between it and the actions of instructions, and after them.
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

    /// Writes the window, which has as many cells as the longest instruction, and the operands in it.
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

    /// Writes how operands that name registers are read and written.
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

/// Returns the values kept from one step to the next, with their widths.
pub(crate) fn loaded(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    [common.loaded(), maps::found(isa, shape, common)].concat()
}

/// Returns the values computed anew in every cycle, with their widths.
pub(crate) fn computed(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    [common.computed(), maps::said(isa, shape, common)].concat()
}
