//! Hand-written interpreters, one `match` per machine: what somebody writes who wants to
//! see a design run. They are the yardstick, so they are straightforward and no worse than
//! that: registers in arrays, one dispatch per instruction, no decoding twice.

mod duo16;
mod hex8;
mod quad8;
mod stack8;

/// A machine written by hand.
pub(crate) trait Naive {
    /// Runs so many steps from address 0.
    fn run(&mut self, steps: u64);
    /// Everything that a run changes: `pc`, the registers that the comparison knows, memory.
    fn memory(&self) -> &[u8];
    /// Where it stands.
    fn pc(&self) -> u64;
}

/// The machine of this name, with a program loaded.
pub(crate) fn load(machine: &str, program: &[u8]) -> Option<Box<dyn Naive>> {
    Some(match machine {
        "hex8" => Box::new(hex8::Hex8::new(program)),
        "quad8" => Box::new(quad8::Quad8::new(program)),
        "duo16" => Box::new(duo16::Duo16::new(program)),
        "stack8a" => Box::new(stack8::Stack8::new(program, stack8::Revision::A)),
        "stack8b" => Box::new(stack8::Stack8::new(program, stack8::Revision::B)),
        _ => return None,
    })
}
