//! Hand-written interpreters, one `match` per machine, as people write them to see a design run. They are the
//! yardstick, so they are straightforward and no worse than that: registers in arrays, one dispatch per instruction, no
//! decoding twice.

mod chip8;
mod duo16;
mod hex8;
mod lc3;
mod mos6502;
mod quad8;
mod rv32i;
mod sm83;
mod stack8;

/// A machine written by hand.
pub trait ByHand {
    /// Runs this many steps from the current state.
    fn run(&mut self, steps: u64);
    /// Returns address and value of every cell that programs work on; those left out are 0.
    fn memory(&self) -> Vec<(u64, u64)>;
    /// Returns the name of that memory in the definition.
    fn memory_name(&self) -> &'static str {
        "ram"
    }
    /// Returns the program counter.
    fn pc(&self) -> u64;
    /// Continues at this address.
    fn jump(&mut self, pc: u64);
    /// Returns registers by their names in the definition, if they are listed.
    fn registers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Returns the cycles so far, if it counts them.
    fn cycles(&self) -> Option<u64> {
        None
    }
    /// Returns what it has written to its console, if it keeps that.
    fn output(&self) -> &[u8] {
        &[]
    }
}

/// Returns the machine of this name, with a program loaded at address 0 that begins at `start`; `None` if there is no
/// hand-written one.
pub fn load(machine: &str, program: &[u64], start: u64) -> Option<Box<dyn ByHand>> {
    let bytes: Vec<u8> = program.iter().map(|cell| *cell as u8).collect();
    let mut machine: Box<dyn ByHand> = match machine {
        "hex8" => Box::new(hex8::Hex8::new(&bytes)),
        "quad8" => Box::new(quad8::Quad8::new(&bytes)),
        "duo16" => Box::new(duo16::Duo16::new(&bytes)),
        "stack8a" => Box::new(stack8::Stack8::new(&bytes, stack8::Revision::A)),
        "stack8b" => Box::new(stack8::Stack8::new(&bytes, stack8::Revision::B)),
        "mos6502" => Box::new(mos6502::Mos6502::new(&bytes)),
        "sm83" => Box::new(sm83::Sm83::new(&bytes)),
        "chip8" => Box::new(chip8::Chip8::new(&bytes)),
        "lc3" => Box::new(lc3::Lc3::new(program)),
        "rv32i" => Box::new(rv32i::Rv32i::new(&bytes)),
        _ => return None,
    };
    machine.jump(start);
    Some(machine)
}

/// Pairs cells with their addresses.
fn numbered<T: Copy + Into<u64>>(cells: &[T]) -> Vec<(u64, u64)> {
    (0..).zip(cells.iter().map(|cell| (*cell).into())).collect()
}
