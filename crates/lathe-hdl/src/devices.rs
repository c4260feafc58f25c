//! Devices that are small modules of their own: timers, random numbers, counters, displays. They behave as the
//! interpreter's devices do, instruction by instruction.

use lathe_isa::Isa;
use lathe_isa::model::{Device, DeviceId, DeviceKind, DeviceOperation};

use crate::expression::{number, range, select};
use crate::shape::Shape;
use crate::writer::Writer;

/// Returns the modules that a machine's devices need.
pub(crate) fn modules(isa: &Isa, shape: &Shape) -> String {
    let has = |is_it: fn(&DeviceKind) -> bool| isa.devices.iter().any(|device| is_it(&device.kind));
    let mut text = String::new();
    let parts = [
        (has(|kind| matches!(kind, DeviceKind::Timer { .. })), include_str!("timer.v")),
        (has(|kind| matches!(kind, DeviceKind::Random { .. })), include_str!("random.v")),
        (has(|kind| matches!(kind, DeviceKind::Counter)), include_str!("counter.v")),
        (has(|kind| matches!(kind, DeviceKind::Display { .. })), include_str!("display.v")),
    ];
    let _ = shape;
    for (_, part) in parts.iter().filter(|(is_needed, _)| *is_needed) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

/// Returns an instance of a device's module, connected to the core's ports of the same names.
pub(crate) fn instance(isa: &Isa, shape: &Shape, id: DeviceId) -> String {
    let Device { kind, .. } = isa.devices[id.index()];
    let name = shape.names.device(id);
    let has = |operation: DeviceOperation| {
        shape.operations.iter().any(|(of, known)| *of == id && known.operation == operation)
    };
    let output = |port: &str, bits: u32, operation: DeviceOperation| {
        if has(operation) {
            (String::new(), format!(".{port}({name}_{port})"))
        } else {
            (format!("wire {}{name}_{port};\n", range(bits)), format!(".{port}({name}_{port})"))
        }
    };
    let input = |port: &str, operation: DeviceOperation, zero: &str| {
        if has(operation) { format!(".{port}({name}_{port})") } else { format!(".{port}({zero})") }
    };
    let mut out = Writer::at(1);
    match kind {
        DeviceKind::Timer { width, every } => {
            let (declaration, value) = output("read_value", width.bits(), DeviceOperation::Read);
            out.line(declaration);
            let (write, data) = (
                input("write", DeviceOperation::Write, "1'b0"),
                input("write_data", DeviceOperation::Write, &number(width.bits(), 0)),
            );
            out.line(format!("lathe_timer #(.WIDTH({}), .EVERY({every})) {name}_timer (.clk(clk), .reset(reset), .retire(retire), {value}, {write}, {data});", width.bits()));
        }
        DeviceKind::Random { width } if has(DeviceOperation::Read) => {
            out.line(format!(
                "wire [63:0] {name}_number;\nassign {name}_read_value = {};",
                select(&format!("{name}_number"), 64, 0, width.bits())
            ));
            out.line(format!(
                "lathe_random {name}_random (.clk(clk), .reset(reset), .read({name}_read), .value({name}_number));"
            ));
        }
        DeviceKind::Counter => {
            let (first, instructions) = output("instructions_value", 64, DeviceOperation::Instructions);
            let (second, cycles) = output("cycles_value", 64, DeviceOperation::Cycles);
            out.line(first);
            out.line(second);
            let passed = if isa.has_cycles { "retire_cycles" } else { "64'd0" };
            out.line(format!("lathe_counter {name}_counter (.clk(clk), .reset(reset), .retire(retire), .retire_cycles({passed}), {instructions}, {cycles});"));
        }
        DeviceKind::Display { width, height } => {
            let part = width.min(lathe_base::Width::MAX.bits());
            let (first, row) = output("row_value", part, DeviceOperation::Row);
            let (second, get) = output("get_value", 1, DeviceOperation::Get);
            out.line(first);
            out.line(second);
            let x = lathe_base::Width::to_tell_apart(width as usize).bits();
            let y = lathe_base::Width::to_tell_apart(height as usize).bits();
            let zero = |bits: u32| format!("{{{bits}{{1'b0}}}}");
            use DeviceOperation::{Clear, Get, Row, Scroll, Set, SetRow};
            let column = |port: &str, operation| {
                if part < width { input(port, operation, &zero(x)) } else { format!(".{port}({})", zero(x)) }
            };
            let all = [
                input("row", Row, "1'b0"),
                column("row_x", Row),
                input("row_y", Row, &zero(y)),
                row,
                input("get", Get, "1'b0"),
                input("get_x", Get, &zero(x)),
                input("get_y", Get, &zero(y)),
                get,
                input("set", Set, "1'b0"),
                input("set_x", Set, &zero(x)),
                input("set_y", Set, &zero(y)),
                input("set_data", Set, "1'b0"),
                input("set_row", SetRow, "1'b0"),
                column("set_row_x", SetRow),
                input("set_row_y", SetRow, &zero(y)),
                input("set_row_data", SetRow, &zero(part)),
                input("scroll", Scroll, "1'b0"),
                input("scroll_dx", Scroll, &zero(x + 1)),
                input("scroll_dy", Scroll, &zero(y + 1)),
                input("clear", Clear, "1'b0"),
            ];
            out.line(format!("lathe_display #(.WIDTH({width}), .HEIGHT({height}), .X({x}), .Y({y}), .PART({part})) {name}_display (.clk(clk), .reset(reset),\n  {});", all.join(", ")));
        }
        _ => {}
    }
    out.finish()
}
