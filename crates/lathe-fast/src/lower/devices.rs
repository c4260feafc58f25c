//! What devices are asked and told.

use lathe_values::{DeviceCall, Effects};

use super::Lowering;
use crate::ops::{Code, Op};
use crate::outside;

impl Lowering<'_> {
    /// Emits the operations that ask devices, in an instruction that `before` others of the block precede. They leave
    /// the block if a device has no answer yet.
    pub(super) fn device_reads(&mut self, effects: &Effects, exit: u16, before: u8) -> Option<()> {
        for (call, answer) in &effects.device_reads {
            let into = self.temporary()?;
            let op = self.device_call(call, before)?;
            self.ops.push(Op { into, exit, ..op(Code::DeviceRead) });
            self.slots[answer.index()] = Some(into);
            self.trail.push(*answer);
        }
        Some(())
    }

    /// Emits the operations that tell devices something, in an instruction that `before` others of the block precede.
    pub(super) fn device_writes(&mut self, effects: &Effects, before: u8) -> Option<()> {
        for call in &effects.device_writes {
            let op = self.device_call(call, before)?;
            self.ops.push(op(Code::DeviceWrite));
        }
        Some(())
    }

    /// Emits the arguments of a call; the operation that uses them must follow.
    fn device_call(&mut self, call: &DeviceCall, before: u8) -> Option<impl FnOnce(Code) -> Op + use<>> {
        let z = outside::number(self.isa, call.device, call.operation)?;
        let x = match call.guard {
            Some(guard) => self.slot(guard)?,
            None => self.number(1)?,
        };
        let arguments: Option<Vec<_>> = call.arguments.iter().map(|argument| self.slot(*argument)).collect();
        for (x, z) in arguments?.into_iter().zip(0..) {
            self.ops.push(Op { x, z, ..Op::new(Code::Argument) });
        }
        Some(move |code| Op { x, z, extra: u64::from(before), ..Op::new(code) })
    }
}
