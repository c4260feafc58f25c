//! The circuits around the core on a chip: block RAM in lanes with the program in it, a serial port, a top module, and
//! the pins of two boards.

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, MemoryId};

use crate::bench::contents;
use crate::expression::{number, range, select};
use crate::shape::{self, Shape};
use crate::writer::Writer;
use crate::{File, Program, core, devices};

/// Address bits of the block RAM that stands in for a memory too large for any chip.
const LARGE: u32 = 16;

/// Returns the files for a board.
pub(crate) fn files(isa: &Isa, shape: &Shape, program: &Program) -> Vec<File> {
    let mut files = vec![
        File { name: "board/top.v".to_owned(), text: top(isa, shape, program) },
        File { name: "board/icebreaker.pcf".to_owned(), text: include_str!("icebreaker.pcf").to_owned() },
        File { name: "board/ulx3s.lpf".to_owned(), text: include_str!("ulx3s.lpf").to_owned() },
    ];
    for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
        let lanes = u64::from(shape.lanes[id.index()]);
        let digits = memory.cell.bits().div_ceil(4) as usize;
        let rows = 1u64 << (address_bits(memory, shape.lanes[id.index()], program) - lanes.trailing_zeros());
        let cells = contents(isa, program, id);
        for lane in 0..lanes {
            let mut text = String::new();
            let mut expected = 0;
            for (address, value) in
                cells.iter().filter(|(address, _)| address % lanes == lane && address / lanes < rows)
            {
                let row = address / lanes;
                if row != expected {
                    text.push_str(&format!("@{row:x}\n"));
                }
                text.push_str(&format!("{value:0digits$x}\n"));
                expected = row + 1;
            }
            if text.is_empty() {
                text = format!("{:0digits$x}\n", 0);
            }
            files.push(File { name: format!("board/{}_{lane}.hex", memory.name), text });
        }
    }
    files
}

/// Returns the address bits of a memory's block RAM: at least one cell per bank.
fn address_bits(memory: &lathe_isa::model::Memory, lanes: u32, program: &Program) -> u32 {
    let most = if memory.is_large() { LARGE } else { memory.address.bits() };
    most.min(program.board_bits.unwrap_or(most)).max(lanes.trailing_zeros())
}

fn top(isa: &Isa, shape: &Shape, program: &Program) -> String {
    let mut out = Writer::default();
    out.line(format!("// {} on a chip: the core, its memories, a serial port. Written by `lathe hdl`.", isa.name));
    out.line("// Read it together with the core's file.\n/* verilator lint_off DECLFILENAME */\n/* verilator lint_off UNUSEDSIGNAL */");
    out.blank();
    out.line("`default_nettype none");
    out.blank();
    let has_serial = isa.devices.iter().any(|device| device.kind == DeviceKind::Stream);
    if has_serial {
        out.open("module top #(");
        out.line("parameter DIVISOR = 104 // clock cycles of one bit at the serial port: 12 MHz and 115200 baud");
        out.close(") (");
        out.open("");
    } else {
        out.open("module top (");
    }
    out.line(
        "input  wire clk,\ninput  wire rx,\noutput wire tx,\noutput wire running, // a light, until the machine stops\noutput reg  light // another: the lowest bit of the last byte that was written to the console",
    );
    out.close(");");
    out.open("");
    out.line("// The power has come on: a few cycles of reset.\nreg [3:0] start = 4'd0;\nalways @(posedge clk) if (!start[3]) start <= start + 4'd1;\nwire reset = !start[3];");
    out.line("assign running = !halted && !faulted;");
    out.blank();
    let ports = core::ports(isa, shape);
    for port in ports.iter().filter(|port| !matches!(port.name.as_str(), "clk" | "reset")) {
        out.line(format!("wire {}{};", range(port.bits), port.name));
    }
    let all: Vec<String> = ports.iter().map(|port| format!(".{0}({0})", port.name)).collect();
    out.line(format!("{} core (\n  {}\n);", shape.names.module, all.join(",\n  ")));
    out.blank();
    let entry = program.entry.unwrap_or(isa.pc.reset);
    out.line(format!("assign reset_pc = {};", number(isa.pc.width.bits(), entry)));
    for (id, low) in &shape.registers {
        let register = isa.register(*id);
        let place = select("reset_registers", shape.register_bits, *low, register.width.bits());
        out.line(format!(
            "assign {place} = {}; // {}",
            number(register.width.bits(), program.register(*id, isa)),
            register.name
        ));
    }
    out.blank();
    for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
        let name = shape.names.memory(id);
        let physical = address_bits(memory, shape.lanes[id.index()], program);
        if physical < memory.address.bits() {
            out.line(format!(
                "// {} has 2^{} cells; 2^{physical} of them are here, over and over.",
                memory.name,
                memory.address.bits()
            ));
        }
        if memory.is_large() {
            out.line(format!("assign {name}_ready = 1'b1;"));
        }
        out.line(format!("{}_{name} {name} (.clk(clk), .address({name}_address), .read({name}_read), .write({name}_write), .data({name}_data), .value({name}_value));", shape.names.module));
    }
    out.blank();
    wire_devices(isa, shape, &mut out);
    if !has_serial {
        out.line("assign tx = 1'b1;\ninitial light = 1'b0;");
    }
    out.close("endmodule");
    out.blank();
    for (id, _) in (0..).map(MemoryId).zip(&isa.memories) {
        memory(isa, shape, program, id, &mut out);
        out.blank();
    }
    if has_serial {
        out.raw(include_str!("uart.v"));
        out.blank();
    }
    out.raw(&devices::modules(isa, shape));
    out.line("`default_nettype wire");
    out.finish()
}

/// Connects the devices; the first stream is the serial port.
fn wire_devices(isa: &Isa, shape: &Shape, out: &mut Writer) {
    let mut has_serial = false;
    for (id, device) in (0..).map(DeviceId).zip(&isa.devices) {
        let name = shape.names.device(id);
        match device.kind {
            DeviceKind::Stream if !has_serial => {
                has_serial = true;
                serial(shape, id, out);
            }
            DeviceKind::Stream | DeviceKind::Bus { .. } | DeviceKind::Keypad { .. } => {
                for (_, operation) in shape.operations.iter().filter(|(of, _)| *of == id) {
                    let port = format!("{name}_{}", operation.operation.name());
                    if shape::may_wait(isa, id, operation.operation) {
                        out.line(format!("assign {port}_ready = 1'b1;"));
                    }
                    if let Some(width) = operation.result {
                        out.line(format!(
                            "assign {port}_value = {}; // attach something here",
                            number(width.bits(), 0)
                        ));
                    }
                }
            }
            _ => out.raw(&devices::instance(isa, shape, id)),
        }
    }
}

fn serial(shape: &Shape, id: DeviceId, out: &mut Writer) {
    let name = shape.names.device(id);
    let has = |operation: DeviceOperation| {
        shape.operations.iter().any(|(of, known)| *of == id && known.operation == operation)
    };
    out.line(format!("wire {name}_has_byte;\nwire [7:0] {name}_byte;\nwire {name}_can_send;"));
    if has(DeviceOperation::Ready) {
        out.line(format!("assign {name}_ready_value = {name}_has_byte;"));
    }
    let (write, data) = if has(DeviceOperation::Write) {
        (format!("{name}_write"), format!("{name}_write_data"))
    } else {
        ("1'b0".to_owned(), format!("{name}_byte"))
    };
    out.line(format!(
        "initial light = 1'b0;\nalways @(posedge clk) if ({write} && {name}_can_send) light <= {};",
        select(&data, 8, 0, 1)
    ));
    let read = if has(DeviceOperation::Read) { format!("{name}_read") } else { "1'b0".to_owned() };
    if has(DeviceOperation::Write) {
        out.line(format!("assign {name}_write_ready = {name}_can_send;"));
    }
    if has(DeviceOperation::Read) {
        out.line(format!("assign {name}_read_ready = {name}_has_byte;\nassign {name}_read_value = {name}_byte;"));
    }
    out.line(format!("lathe_uart #(.DIVISOR(DIVISOR)) {name}_uart (.clk(clk), .reset(reset), .rx(rx), .tx(tx),\n  .write({write}), .write_data({data}), .write_ready({name}_can_send),\n  .read({read}), .read_value({name}_byte), .read_ready({name}_has_byte));"));
}

/// Writes a memory of block RAM with one bank per lane. The cells alternate between the banks, so that neighbours are
/// in different banks wherever they begin.
fn memory(isa: &Isa, shape: &Shape, program: &Program, id: MemoryId, out: &mut Writer) {
    let memory = isa.memory(id);
    let (lanes, cell, address) = (shape.lanes[id.index()], memory.cell.bits(), memory.address.bits());
    let physical = address_bits(memory, lanes, program);
    let choice = lanes.trailing_zeros();
    let row = physical - choice;
    let bits = lanes * cell;
    out.line(format!(
        "// {}, in {lanes} bank{}: any {lanes} neighbouring cells are reached at once.",
        memory.name,
        if lanes == 1 { "" } else { "s" }
    ));
    out.open(format!("module {}_{} (", shape.names.module, shape.names.memory(id)));
    out.line(format!("input  wire clk,\ninput  wire {}address,\ninput  wire read,\ninput  wire {}write,\ninput  wire {}data,\noutput reg  {}value", range(address), range(lanes), range(bits), range(bits)));
    out.close(");");
    out.open("");
    if lanes == 1 {
        out.line(format!(
            "reg {}cells [0:{}];\ninitial $readmemh(\"{}_0.hex\", cells);",
            range(cell),
            (1u64 << row) - 1,
            memory.name
        ));
        out.open("always @(posedge clk) begin");
        let at = select("address", address, 0, physical);
        out.line(format!("if (read) value <= cells[{at}];\nif (write) cells[{at}] <= data;"));
        out.close("end");
        out.close("endmodule");
        return;
    }
    let low = select("address", address, 0, choice);
    out.line(format!("// How far the first cell is into its row, now and when it was last read.\nwire {0}offset = {low};\nreg {0}offset_q;\nalways @(posedge clk) if (read) offset_q <= offset;", range(choice)));
    out.line(format!(
        "reg {}banks_data;\nreg {}banks_write;\nwire {}banks_value;",
        range(bits),
        range(lanes),
        range(bits)
    ));
    out.open("always @* begin");
    out.open("case (offset)");
    for offset in 0..lanes {
        let turned = |name: &str, size: u32| match offset {
            0 => name.to_owned(),
            _ => format!(
                "{{{}, {}}}",
                select(name, size * lanes, 0, size * (lanes - offset)),
                select(name, size * lanes, size * (lanes - offset), size * offset)
            ),
        };
        let label = if offset + 1 == lanes { "default".to_owned() } else { number(choice, u64::from(offset)) };
        out.line(format!(
            "{label}: begin banks_data = {}; banks_write = {}; end",
            turned("data", cell),
            turned("write", 1)
        ));
    }
    out.close("endcase");
    out.open("case (offset_q)");
    for offset in 0..lanes {
        let label = if offset + 1 == lanes { "default".to_owned() } else { number(choice, u64::from(offset)) };
        let turned = match offset {
            0 => "banks_value".to_owned(),
            _ => format!(
                "{{{}, {}}}",
                select("banks_value", bits, 0, cell * offset),
                select("banks_value", bits, cell * offset, cell * (lanes - offset))
            ),
        };
        out.line(format!("{label}: value = {turned};"));
    }
    out.close("endcase");
    out.close("end");
    // Banks of a single cell have one row, so there is no next row.
    let rows = range(row.max(1));
    let first = if row == 0 { number(1, 0) } else { select("address", address, choice, row) };
    out.line(format!("wire {rows}row = {first};"));
    for lane in 0..lanes {
        let is_beyond = format!("offset > {}", number(choice, u64::from(lane)));
        let next = match row {
            _ if row == 0 || lane + 1 == lanes => String::new(),
            1 => format!(" + ({is_beyond})"),
            _ => format!(" + {{{}, {is_beyond}}}", number(row - 1, 0)),
        };
        out.line(format!(
            "wire {rows}row_{lane} = row{next};\nreg {}bank_{lane} [0:{}];\nreg {}value_{lane};",
            range(cell),
            (1u64 << row) - 1,
            range(cell)
        ));
        out.line(format!("initial $readmemh(\"{}_{lane}.hex\", bank_{lane});", memory.name));
        out.open("always @(posedge clk) begin");
        out.line(format!("if (read) value_{lane} <= bank_{lane}[row_{lane}];\nif (banks_write[{lane}]) bank_{lane}[row_{lane}] <= {};", select("banks_data", bits, lane * cell, cell)));
        out.close("end");
        out.line(format!("assign {} = value_{lane};", select("banks_value", bits, lane * cell, cell)));
    }
    out.close("endmodule");
}
