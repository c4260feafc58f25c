//! Hand-written interpreters, one `match` per machine: what somebody writes who wants to
//! see a design run. They are the yardstick, so they are straightforward and no worse than
//! that: registers in arrays, one dispatch per instruction, no decoding twice.

mod duo16;
mod hex8;
mod quad8;
mod stack8;

/// A machine written by hand.
pub trait ByHand {
    /// Runs so many steps from where it stands.
    fn run(&mut self, steps: u64);
    /// The memory that programs work on.
    fn memory(&self) -> &[u8];
    /// Where it stands.
    fn pc(&self) -> u64;
}

/// The machine of this name, with a program loaded at address 0; `None` if nobody has written it.
pub fn load(machine: &str, program: &[u8]) -> Option<Box<dyn ByHand>> {
    Some(match machine {
        "hex8" => Box::new(hex8::Hex8::new(program)),
        "quad8" => Box::new(quad8::Quad8::new(program)),
        "duo16" => Box::new(duo16::Duo16::new(program)),
        "stack8a" => Box::new(stack8::Stack8::new(program, stack8::Revision::A)),
        "stack8b" => Box::new(stack8::Stack8::new(program, stack8::Revision::B)),
        _ => return None,
    })
}
