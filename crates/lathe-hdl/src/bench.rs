//! A test bench: the core with memories and devices for simulation. It runs a program and prints its console, or
//! records everything that the core does.

use lathe_base::numbers::addresses_from;
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, MemoryId};

use crate::core;
use crate::devices;
use crate::expression::{number, range, select};
use crate::shape::{self, Shape};
use crate::writer::Writer;
use crate::{File, Program};

/// Address bits of a memory of 2^32 cells in a simulator without associative arrays.
const LARGE: u32 = 20;

/// The most arguments of a device operation.
const ARGUMENTS: usize = 3;

/// Returns the main program for Verilator, which needs one; in Icarus the bench makes its own clock.
pub(crate) fn driver() -> String {
    include_str!("bench.cpp").to_owned()
}

/// Returns the first contents of the memories, as files that `$readmemh` reads.
pub(crate) fn images(isa: &Isa, program: &Program) -> Vec<File> {
    let memory = |(id, memory): (MemoryId, &lathe_isa::model::Memory)| {
        let cells = contents(isa, program, id);
        let digits = memory.cell.bits().div_ceil(4) as usize;
        let mut text = format!("// {} of {}; written by `lathe hdl`.\n", memory.name, isa.name);
        let mut expected = None;
        for (address, value) in cells {
            if expected != Some(address) {
                text.push_str(&format!("@{address:x}\n"));
            }
            text.push_str(&format!("{value:0digits$x}\n"));
            expected = Some(address + 1);
        }
        if expected.is_none() {
            text.push_str(&format!("@0\n{:0digits$x}\n", 0));
        }
        File { name: format!("{}.hex", memory.name), text }
    };
    (0..).map(MemoryId).zip(&isa.memories).map(memory).collect()
}

/// Returns the cells of a memory that are not 0 at first: those of the definition, with the program over them.
pub(crate) fn contents(isa: &Isa, program: &Program, id: MemoryId) -> Vec<(u64, u64)> {
    let mut cells = std::collections::BTreeMap::new();
    for contents in isa.contents.iter().filter(|contents| contents.memory == id) {
        cells.extend(addresses_from(contents.address).zip(contents.values.iter().copied()));
    }
    cells.extend(program.cells.get(id.index()).into_iter().flatten().copied());
    cells.into_iter().collect()
}

/// Returns the text of the bench.
pub(crate) fn module(isa: &Isa, shape: &Shape, program: &Program) -> String {
    let bench = Bench { isa, shape };
    let mut out = Writer::default();
    out.line(format!("// A bench for {}. Written by `lathe hdl`.", isa.name));
    out.line("//\n// With Icarus:    iverilog -g2005 -o bench *.v && vvp -n bench\n// With Verilator: verilator -Wno-fatal --cc --exe --build --top-module bench bench.v bench.cpp && obj_dir/Vbench");
    out.line("//\n// +MEMORY=FILE   what a memory holds at first, for $readmemh\n// +input=FILE    what there is to read at the console");
    out.line("// +state=FILE    the program counter and the registers at first, one a line, in hexadecimal");
    out.line("// +limit=COUNT   stop after so many instructions\n// +trace         write down everything that the core does, instead of the console");
    out.line("// +count         at the end, say how many instructions and clock cycles there were");
    out.line("//\n// Where RECORDS is defined (only Verilator can), functions record_... of the main program are called instead of +trace's text.\n// It then wants --x-initial fast, for memories that begin with zeros.");
    out.blank();
    out.line("`timescale 1ns / 1ns\n`default_nettype none");
    out.blank();
    bench.inside(&mut out, program);
    out.blank();
    out.line("`default_nettype wire");
    if !devices::modules(isa, shape).is_empty() {
        out.blank();
        out.raw(&devices::modules(isa, shape));
    }
    out.finish()
}

struct Bench<'a> {
    isa: &'a Isa,
    shape: &'a Shape,
}

impl Bench<'_> {
    fn inside(&self, out: &mut Writer, program: &Program) {
        out.raw("/* verilator lint_off UNUSEDSIGNAL */\n");
        out.raw("module bench (\n`ifdef VERILATOR\n  input wire clk\n`endif\n);\n`ifndef VERILATOR\n  reg clk = 1'b0;\n  always #1 clk = !clk;\n`endif\n");
        out.open("");
        out.line("reg reset = 1'b1;");
        self.wires(out);
        self.state(out, program);
        for (id, _) in (0..).map(MemoryId).zip(&self.isa.memories) {
            self.memory(out, id);
        }
        self.devices(out);
        out.line("reg tracing = 1'b0;\ninitial if ($test$plusargs(\"trace\")) tracing = 1'b1;");
        self.records(out);
        self.watch(out);
        out.close("endmodule\n/* verilator lint_on UNUSEDSIGNAL */");
    }

    /// Writes a wire for every port, and the core.
    fn wires(&self, out: &mut Writer) {
        let ports = core::ports(self.isa, self.shape);
        for port in ports.iter().filter(|port| !matches!(port.name.as_str(), "clk" | "reset")) {
            out.line(format!("wire {}{};", range(port.bits), port.name));
        }
        let all: Vec<String> = ports.iter().map(|port| format!(".{0}({0})", port.name)).collect();
        out.line(format!("{} core (\n  {}\n);", self.shape.names.module, all.join(",\n  ")));
        out.blank();
    }

    /// Writes the first values of the program counter and the registers.
    fn state(&self, out: &mut Writer, program: &Program) {
        let count = self.shape.registers.len();
        out.line(format!("reg [8 * 256 - 1:0] file;\nreg [63:0] state [0:{count}];"));
        out.open("initial begin");
        out.line(format!("state[0] = 64'h{:X};", program.entry.unwrap_or(self.isa.pc.reset)));
        for (at, (id, _)) in self.shape.registers.iter().enumerate() {
            out.line(format!("state[{}] = 64'h{:X};", at + 1, program.register(*id, self.isa)));
        }
        out.line("if ($value$plusargs(\"state=%s\", file)) $readmemh(file, state);");
        out.close("end");
        out.line(format!("assign reset_pc = state[0]{};", bits_of(self.isa.pc.width.bits())));
        for (at, (id, low)) in self.shape.registers.iter().enumerate() {
            let bits = self.isa.register(*id).width.bits();
            out.line(format!(
                "assign {} = state[{}]{};",
                select("reset_registers", self.shape.register_bits, *low, bits),
                at + 1,
                bits_of(bits)
            ));
        }
        out.blank();
    }

    fn memory(&self, out: &mut Writer, id: MemoryId) {
        let memory = self.isa.memory(id);
        let (name, lanes, cell, address) =
            (self.shape.names.memory(id), self.shape.lanes[id.index()], memory.cell.bits(), memory.address.bits());
        let cells = format!("{name}_cells");
        if memory.is_large() {
            // Only Verilator has sparse memories.
            out.raw("`ifdef VERILATOR\n");
            out.line(format!("reg {}{cells} [bit [{}:0]];", range(cell), address - 1));
            out.raw("`else\n");
            out.line(format!("reg {}{cells} [0:{}];\ninteger {name}_at;\ninitial for ({name}_at = 0; {name}_at < {}; {name}_at = {name}_at + 1) {cells}[{name}_at] = 0;", range(cell), (1u64 << LARGE) - 1, 1u64 << LARGE));
            out.raw("`endif\n");
            out.line(format!("assign {name}_ready = 1'b1;"));
        } else {
            let last = memory.last();
            out.line(format!("reg {}{cells} [0:{last}];\ninteger {name}_at;", range(cell)));
            // Records need Verilator, which can fill memories with zeros itself (`--x-initial fast`), and faster.
            out.raw("`ifndef RECORDS\n");
            out.line(format!(
                "initial for ({name}_at = 0; {name}_at <= {last}; {name}_at = {name}_at + 1) {cells}[{name}_at] = 0;"
            ));
            out.raw("`endif\n");
        }
        out.open("initial begin");
        out.line(format!(
            "if (!$value$plusargs(\"{}=%s\", file)) file = \"{}.hex\";\n$readmemh(file, {cells});",
            memory.name, memory.name
        ));
        out.close("end");
        out.line(format!("reg {}{name}_now;\nassign {name}_value = {name}_now;", range(cell * lanes)));
        for lane in 0..lanes {
            out.line(format!(
                "wire {}{name}_at_{lane} = {name}_address + {};",
                range(address),
                number(address, u64::from(lane))
            ));
        }
        out.open("always @(posedge clk) begin");
        for lane in 0..lanes {
            let part = select(&format!("{name}_now"), cell * lanes, lane * cell, cell);
            let data = select(&format!("{name}_data"), cell * lanes, lane * cell, cell);
            let write = select(&format!("{name}_write"), lanes, lane, 1);
            out.line(format!("if ({name}_read) {part} <= {cells}[{name}_at_{lane}];"));
            let assign = if memory.is_large() { "=" } else { "<=" };
            out.line(format!("if ({write} && !reset) {cells}[{name}_at_{lane}] {assign} {data};"));
        }
        out.close("end");
        out.blank();
    }

    fn devices(&self, out: &mut Writer) {
        let mut has_console = false;
        for (id, device) in (0..).map(DeviceId).zip(&self.isa.devices) {
            let name = self.shape.names.device(id);
            match device.kind {
                DeviceKind::Stream if !has_console => {
                    has_console = true;
                    self.console(out, id);
                }
                DeviceKind::Stream | DeviceKind::Bus { .. } | DeviceKind::Keypad { .. } => {
                    for (_, operation) in self.shape.operations.iter().filter(|(of, _)| *of == id) {
                        let port = format!("{name}_{}", operation.operation.name());
                        if shape::may_wait(self.isa, id, operation.operation) {
                            out.line(format!("assign {port}_ready = 1'b1;"));
                        }
                        if let Some(width) = operation.result {
                            out.line(format!(
                                "assign {port}_value = {}; // nothing is attached",
                                number(width.bits(), 0)
                            ));
                        }
                    }
                }
                _ => out.raw(&devices::instance(self.isa, self.shape, id)),
            }
        }
        out.blank();
    }

    /// Writes the console: a file to read from, and the simulator's output.
    fn console(&self, out: &mut Writer, id: DeviceId) {
        let name = self.shape.names.device(id);
        let has = |operation: DeviceOperation| {
            self.shape.operations.iter().any(|(of, known)| *of == id && known.operation == operation)
        };
        out.line("// The console. Beyond the end of its input it reads 0.\ninteger input_file = 0;\ninteger input_byte = -1;");
        out.open("initial begin");
        out.open("if ($value$plusargs(\"input=%s\", file)) begin");
        out.line("input_file = $fopen(file, \"rb\");\nif (input_file != 0) input_byte = $fgetc(input_file);");
        out.close("end");
        out.close("end");
        if has(DeviceOperation::Ready) {
            out.line(format!("assign {name}_ready_value = input_byte >= 0;"));
        }
        if has(DeviceOperation::Read) {
            out.line(format!(
                "assign {name}_read_ready = 1'b1;\nassign {name}_read_value = input_byte < 0 ? 8'd0 : input_byte[7:0];"
            ));
            out.line(format!(
                "always @(posedge clk) if ({name}_read && !reset && input_byte >= 0) input_byte <= $fgetc(input_file);"
            ));
        }
        if has(DeviceOperation::Write) {
            out.line(format!("assign {name}_write_ready = 1'b1;"));
        }
    }

    /// Declares functions that replace text as the record of what the core does, if `RECORDS` is defined: formatting
    /// and parsing the numbers would take longer than the core does.
    fn records(&self, out: &mut Writer) {
        let registers = self.shape.register_bits.max(2);
        out.raw("`ifdef RECORDS\n");
        for declared in [
            "record_cell(input int memory, input longint unsigned address, input longint unsigned value)",
            "record_device(input int operation, input longint unsigned a, input longint unsigned b, input longint unsigned c)",
            &format!(
                "record_retired(input longint unsigned pc, input longint unsigned next, input bit [127:0] bits, input int halves, input bit [{}:0] registers)",
                registers - 1
            ),
            "record_halted()",
            "record_faulted(input int code, input longint unsigned detail)",
        ] {
            out.line(format!("import \"DPI-C\" function void {declared};"));
        }
        out.raw("`endif\n");
    }

    /// Records what the core does, as a line of text or with a function of [`Bench::records`].
    fn trace(out: &mut Writer, condition: &str, text: &str, record: &str) {
        out.raw("`ifdef RECORDS\n");
        out.line(format!("if ({condition}) {record};"));
        out.raw("`else\n");
        out.line(format!("if ({condition}) $write({text});"));
        out.raw("`endif\n");
    }

    /// Writes what is printed after each clock cycle.
    fn watch(&self, out: &mut Writer) {
        let (names, isa) = (&self.shape.names, self.isa);
        out.line("reg [63:0] limit = 64'd0;\nreg [63:0] count = 64'd0;\ninitial if (!$value$plusargs(\"limit=%d\", limit)) limit = 64'd0;");
        out.line(
            "reg [63:0] clocks = 64'd0;\nreg counting = 1'b0;\ninitial if ($test$plusargs(\"count\")) counting = 1'b1;",
        );
        out.line("task finish;\n  begin\n    if (counting) $write(\"\\n%0d instructions, %0d cycles\\n\", count + {63'd0, retire}, clocks + 64'd1);\n    $finish;\n  end\nendtask");
        out.line("reg touched = 1'b0; // whether this instruction has written or reached a device");
        let has_registers = self.shape.register_bits > 0;
        if has_registers {
            out.line(format!("reg {}registers;", range(self.shape.register_bits)));
        }
        let mut touches: Vec<String> =
            (0..isa.memories.len() as u32).map(|at| format!("{}_write != 0", names.memory(MemoryId(at)))).collect();
        touches.extend(
            core::ports(isa, self.shape).iter().filter(|port| self.is_strobe(&port.name)).map(|port| port.name.clone()),
        );
        let touched = touches.join(" || ");
        out.open("always @(posedge clk) begin");
        out.line("reset <= 1'b0;");
        if has_registers {
            out.line("if (reset) registers <= reset_registers;");
        }
        out.open("if (!reset) begin");
        out.line("clocks <= clocks + 64'd1;");
        for (at, (id, operation)) in self.shape.operations.iter().enumerate() {
            if operation.result.is_none() {
                self.device_write(out, at, *id, operation);
            }
        }
        self.memory_writes(out);
        out.line(format!("touched <= !retire && (touched || {touched});"));
        out.open("if (retire) begin");
        let values = if has_registers { "retire_registers" } else { "1'b0" };
        Self::trace(
            out,
            "tracing",
            &format!("\"R %h %h %h %h\\n\", retire_pc, retire_next, retire_bits, {values}"),
            &format!(
                "record_retired(64'(retire_pc), 64'(retire_next), 128'(retire_bits), {}, {}'({values}))",
                self.shape.register_bits.div_ceil(32),
                self.shape.register_bits.max(2)
            ),
        );
        out.line("count <= count + 64'd1;\nif (limit != 64'd0 && count + 64'd1 >= limit) finish;");
        let same = if has_registers { " && retire_registers == registers" } else { "" };
        out.line(format!("if (!tracing && retire_next == retire_pc{same} && !touched && !({touched})) finish; // nothing can change any more"));
        if has_registers {
            out.line("registers <= retire_registers;");
        }
        out.close("end");
        out.open("if (halted) begin");
        Self::trace(out, "tracing", "\"H\\n\"", "record_halted()");
        out.line("finish;");
        out.close("end");
        out.open("if (faulted) begin");
        Self::trace(
            out,
            "tracing",
            "\"F %h %h\\n\", faulted_code, faulted_detail",
            "record_faulted(32'(faulted_code), 64'(faulted_detail))",
        );
        out.line("else $write(\"\\nfault %0d (0x%h) at 0x%h\\n\", faulted_code, faulted_detail, retire_pc);\nfinish;");
        out.close("end");
        out.close("end");
        out.close("end");
    }

    /// Records which cells are written. The text comes before the line that ends the instruction, in the same block, so
    /// that no simulator reorders the two.
    fn memory_writes(&self, out: &mut Writer) {
        for (id, memory) in (0..).map(MemoryId).zip(&self.isa.memories) {
            let (name, lanes, cell) = (self.shape.names.memory(id), self.shape.lanes[id.index()], memory.cell.bits());
            for lane in 0..lanes {
                let data = select(&format!("{name}_data"), cell * lanes, lane * cell, cell);
                let write = select(&format!("{name}_write"), lanes, lane, 1);
                Self::trace(
                    out,
                    &format!("tracing && {write}"),
                    &format!("\"W {} %h %h\\n\", {name}_at_{lane}, {data}", id.0),
                    &format!("record_cell({}, 64'({name}_at_{lane}), 64'({data}))", id.0),
                );
            }
        }
    }

    fn is_strobe(&self, port: &str) -> bool {
        self.shape
            .operations
            .iter()
            .any(|(id, operation)| port == format!("{}_{}", self.shape.names.device(*id), operation.operation.name()))
    }

    fn device_write(&self, out: &mut Writer, at: usize, id: DeviceId, operation: &lathe_isa::model::Operation) {
        let kind = self.isa.devices[id.index()].kind;
        let port = format!("{}_{}", self.shape.names.device(id), operation.operation.name());
        let names = shape::argument_names(kind, operation.operation);
        let taken = if shape::may_wait(self.isa, id, operation.operation) {
            format!("{port} && {port}_ready")
        } else {
            port.clone()
        };
        let formats: String = names.iter().map(|_| " %h").collect();
        let values: String = names.iter().map(|name| format!(", {port}_{name}")).collect();
        out.open(format!("if ({taken}) begin"));
        let mut arguments: Vec<String> = names.iter().map(|name| format!("64'({port}_{name})")).collect();
        arguments.resize(ARGUMENTS, "64'd0".to_owned());
        Self::trace(
            out,
            "tracing",
            &format!("\"D {} {}{formats}\\n\"{values}", id.0, operation.operation.name()),
            &format!("record_device({at}, {})", arguments.join(", ")),
        );
        let first = self.isa.devices.iter().position(|device| device.kind == DeviceKind::Stream) == Some(id.index());
        if first && kind == DeviceKind::Stream {
            out.line(format!("else begin $write(\"%c\", {port}_data); $fflush; end"));
        }
        out.close("end");
    }
}

/// Returns the low bits of a 64-bit word.
fn bits_of(bits: u32) -> String {
    match bits {
        64 => String::new(),
        1 => "[0]".to_owned(),
        _ => format!("[{}:0]", bits - 1),
    }
}
