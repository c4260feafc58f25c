//! One macro for each kind of access to a memory or device.

use lathe_isa::model::{DeviceId, MemoryId, Operation};

use crate::core::Core;
use crate::divide;
use crate::expression::number;
use crate::maps;
use crate::shape;
use crate::writer::Writer;

impl Core<'_> {
    /// Writes one macro for each kind of access, which does nothing if the access has been done or is not due yet.
    /// Tasks would work too, but Yosys makes signals from the arguments of each call of a task, and takes time that
    /// grows with the square of their number.
    pub(crate) fn accesses(&self, out: &mut Writer) {
        let one = number(self.common.step_bits, 1);
        out.line("// Access number AT, unless it has been done or something has to be done before it. What is read comes in the next cycle.");
        for (id, memory) in (0..).map(MemoryId).zip(&self.isa.memories) {
            let name = self.shape.names.memory(id);
            let (taken, advance) = match memory.is_large() {
                true => (
                    format!("if ({name}_ready) "),
                    format!("if ({name}_ready) step_next = AT + {one}; else stop = 1'b1;"),
                ),
                false => (String::new(), format!("step_next = AT + {one};")),
            };
            out.define(
                &format!("{name}_load(AT, ADDRESS)"),
                &format!(
                    "if (!stop && step <= AT) begin
  if (!busy) begin {name}_read = 1'b1; {name}_address = ADDRESS; {taken}step_next = AT + {one}; end
  stop = 1'b1;
end"
                ),
            );
            out.define(
                &format!("{name}_store(AT, ADDRESS, LANES, DATA)"),
                &format!(
                    "if (!stop && step <= AT) begin
  if (busy) stop = 1'b1; else begin
    {name}_write = LANES; {name}_address = ADDRESS; {name}_data = DATA;
    busy = 1'b1;
    {advance}
  end
end"
                ),
            );
        }
        maps::accesses(self.isa, self.shape, self.common, out);
        for (id, operation) in &self.shape.operations {
            self.device_access(out, *id, operation);
        }
        if self.shape.division.is_some() {
            divide::access(out, self.common.step_bits);
        }
    }

    fn device_access(&self, out: &mut Writer, id: DeviceId, operation: &Operation) {
        if !shape::is_asked(self.isa, id, operation) {
            return;
        }
        let port = format!("{}_{}", self.shape.names.device(id), operation.operation.name());
        let names = shape::argument_names(self.isa.devices[id.index()].kind, operation.operation);
        let names = &names[..operation.arguments.len().min(names.len())];
        let given: String = names.iter().map(|name| format!(", {}", name.to_uppercase())).collect();
        let one = number(self.common.step_bits, 1);
        let advance = format!("step_next = AT + {one};");
        let waits = shape::may_wait(self.isa, id, operation.operation);
        let advance = match (waits, shape::answers_later(operation)) {
            (true, false) => format!("if ({port}_ready) {advance} else stop = 1'b1;"),
            (false, false) => advance,
            (true, true) => format!("if ({port}_ready) {advance}\n    stop = 1'b1;"),
            (false, true) => format!("{advance}\n    stop = 1'b1;"),
        };
        let arguments: String = names.iter().map(|name| format!(" {port}_{name} = {};", name.to_uppercase())).collect();
        out.define(
            &format!("do_{port}(AT{given})"),
            &format!(
                "if (!stop && step <= AT) begin
  if (busy) stop = 1'b1; else begin
    {port} = 1'b1;{arguments}
    busy = 1'b1;
    {advance}
  end
end"
            ),
        );
    }

    /// Undefines the macros, which would otherwise be visible in all files that are read after this one.
    pub(crate) fn forget_accesses(&self, out: &mut Writer) {
        for (id, _) in (0..).map(MemoryId).zip(&self.isa.memories) {
            let name = self.shape.names.memory(id);
            out.line(format!("`undef {name}_load\n`undef {name}_store"));
        }
        for name in maps::macros(self.isa, self.shape, self.common) {
            out.line(format!("`undef {name}"));
        }
        for (id, operation) in self.shape.operations.iter().filter(|(id, one)| shape::is_asked(self.isa, *id, one)) {
            out.line(format!("`undef do_{}_{}", self.shape.names.device(*id), operation.operation.name()));
        }
        if self.shape.division.is_some() {
            out.line("`undef divide");
        }
    }
}
