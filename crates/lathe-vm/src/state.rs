//! The state of a machine: program counter, registers, memories. Nothing else is state; devices are outside.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use lathe_base::numbers::addresses_from;
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Place, RegisterId};

use crate::memory::{Memory, MemorySnapshot};

/// How many bytes large memories may take by default.
pub const MAX_MEMORY: u64 = 1 << 30;

/// Program counter, registers and memories.
#[derive(Clone, Debug)]
pub struct State {
    /// The address of the next instruction to execute.
    pub pc: u64,
    registers: Vec<u64>,
    memories: Vec<Memory>,
    max_memory: u64,
    /// Cleared by everything that may change registers or memories.
    stamp: Option<Stamp>,
}

/// Identifies the contents of registers and memories: no two contents ever have the same stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u64);

/// How much memory a state may take, and whether it has a stamp, is not part of the state.
impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        (self.pc, &self.registers, &self.memories) == (other.pc, &other.registers, &other.memories)
    }
}

impl Eq for State {}

/// Saved program counter, registers and memories. Snapshots share what did not change between them.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSnapshot {
    pc: u64,
    registers: Vec<u64>,
    memories: Vec<MemorySnapshot>,
}

impl StateSnapshot {
    /// Returns the address of the next instruction to execute.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Returns all registers, in the order of the definition.
    pub fn registers(&self) -> &[u64] {
        &self.registers
    }

    /// Returns a memory.
    pub fn memory(&self, id: MemoryId) -> &MemorySnapshot {
        &self.memories[id.index()]
    }

    /// Returns how many bytes had to be copied for the snapshot.
    pub fn copied(&self) -> u64 {
        self.memories.iter().map(MemorySnapshot::copied).sum()
    }

    /// Returns how many bytes its pages take that are not among those seen. They count as seen from now on.
    pub fn size_beyond(&self, seen: &mut HashSet<usize>) -> u64 {
        self.memories.iter().map(|memory| memory.size_beyond(seen)).sum()
    }

    /// Whether this is a state of this instruction set.
    pub fn fits(&self, isa: &Isa) -> bool {
        self.registers.len() == isa.registers.len()
            && isa.registers.iter().zip(&self.registers).all(|(register, value)| register.width.holds(*value))
            && self.memories.len() == isa.memories.len()
            && isa.memories.iter().zip(&self.memories).all(|(described, memory)| memory.fits(described))
    }
}

impl State {
    /// Makes the state at reset.
    pub fn new(isa: &Isa) -> State {
        let mut state = State {
            pc: isa.pc.reset,
            registers: isa.registers.iter().map(|register| register.reset).collect(),
            memories: isa.memories.iter().map(Memory::new).collect(),
            max_memory: MAX_MEMORY,
            stamp: None,
        };
        for contents in &isa.contents {
            let memory = state.memory_mut(contents.memory);
            addresses_from(contents.address)
                .zip(&contents.values)
                .for_each(|(address, value)| memory.set(address, *value));
        }
        state
    }

    /// Whether this is a state of this instruction set: as many registers, of the same widths, and memories of the same
    /// shapes. Engines run nothing else.
    pub fn fits(&self, isa: &Isa) -> bool {
        let holds = |(register, value): (&lathe_isa::model::Register, &u64)| register.width.holds(*value);
        self.registers.len() == isa.registers.len()
            && isa.registers.iter().zip(&self.registers).all(holds)
            && self.memories.len() == isa.memories.len()
            && isa.memories.iter().zip(&self.memories).all(|(described, memory)| memory.fits(described))
    }

    /// Returns the stamp of the present contents of registers and memories. The state and its copies keep it until
    /// something may have changed the contents.
    pub fn stamp(&mut self) -> Stamp {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        *self.stamp.get_or_insert_with(|| Stamp(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Whether nothing can have changed registers or memories since this stamp was given.
    pub fn has(&self, stamp: Stamp) -> bool {
        self.stamp == Some(stamp)
    }

    /// Saves everything as it is now.
    pub fn snapshot(&mut self) -> StateSnapshot {
        let memories = self.memories.iter_mut().map(Memory::snapshot).collect();
        StateSnapshot { pc: self.pc, registers: self.registers.clone(), memories }
    }

    /// Returns how many bytes a snapshot would have to look at now: small memories, and the pages of large memories
    /// opened since the last snapshot.
    pub fn snapshot_size(&self) -> u64 {
        self.memories.iter().map(Memory::snapshot_size).sum()
    }

    /// Restores everything. The snapshot must [fit](StateSnapshot::fits).
    pub fn restore(&mut self, snapshot: &StateSnapshot) {
        self.stamp = None;
        self.pc = snapshot.pc;
        self.registers.clone_from(&snapshot.registers);
        self.memories.iter_mut().zip(&snapshot.memories).for_each(|(memory, kept)| memory.restore(kept));
    }

    /// Returns how many bytes large memories may take. Small memories exist in any case.
    pub fn max_memory(&self) -> u64 {
        self.max_memory
    }

    /// Sets how many bytes large memories may take from now on: an instruction that needs more faults.
    pub fn set_max_memory(&mut self, bytes: u64) {
        self.max_memory = bytes;
    }

    /// Whether there is memory for writing a cell.
    #[inline]
    pub(crate) fn has_memory_for(&self, memory: MemoryId, address: u64) -> bool {
        self.memory(memory).is_open(address) || self.can_grow(self.memory(memory).growth(address))
    }

    fn can_grow(&self, bytes: u64) -> bool {
        bytes == 0 || self.memories.iter().map(Memory::grown).sum::<u64>() + bytes <= self.max_memory
    }

    /// Returns the value of a register.
    #[inline]
    pub fn register(&self, id: RegisterId) -> u64 {
        self.registers[id.index()]
    }

    /// Writes a register. The value must fit, and a constant register must not be written.
    #[inline]
    pub(crate) fn set_register(&mut self, id: RegisterId, value: u64) {
        self.stamp = None;
        self.registers[id.index()] = value;
    }

    /// Returns all registers, in the order of the definition.
    pub fn registers(&self) -> &[u64] {
        &self.registers
    }

    /// Returns all registers, to be written by an engine: values must fit, and constant registers must not change.
    pub fn registers_mut(&mut self) -> &mut [u64] {
        self.stamp = None;
        &mut self.registers
    }

    /// Returns the value of a register or view.
    pub fn place(&self, place: &Place) -> u64 {
        if let [part] = place.parts.as_slice() {
            return part.width.wrap(self.register(part.register) >> part.low);
        }
        let part = |value: u64, part: &lathe_isa::model::Part| {
            let bits = part.width.wrap(self.register(part.register) >> part.low);
            value.checked_shl(part.width.bits()).unwrap_or(0) | bits
        };
        place.parts.iter().fold(0, part)
    }

    /// Writes a register or view; constant registers keep their value.
    pub fn set_place(&mut self, isa: &Isa, place: &Place, value: u64) {
        for (register, kept, bits) in place.spread(value) {
            if !isa.register(register).constant {
                self.set_register(register, self.register(register) & kept | bits);
            }
        }
    }

    /// Returns a memory.
    pub fn memory(&self, id: MemoryId) -> &Memory {
        &self.memories[id.index()]
    }

    /// Returns a memory, to be written.
    pub fn memory_mut(&mut self, id: MemoryId) -> &mut Memory {
        self.stamp = None;
        &mut self.memories[id.index()]
    }

    /// Returns a memory, for code that changes where its cells are kept but not what they hold.
    pub fn storage_mut(&mut self, id: MemoryId) -> &mut Memory {
        &mut self.memories[id.index()]
    }

    /// Returns all registers and all memories, for engines that need both at once.
    pub fn parts_mut(&mut self) -> (&mut [u64], &mut [Memory]) {
        self.stamp = None;
        (&mut self.registers, &mut self.memories)
    }

    /// Returns the cell that an instruction at this address is fetched from now.
    pub fn code_cell(&self, isa: &Isa, address: u64) -> (MemoryId, u64) {
        isa.code_cell(&self.registers, address)
    }

    /// Returns the beginning of the instruction stream at an address, fetched through maps where the definition says
    /// so, with the modes that decide how it is decoded. Addresses wrap; devices are not accessed.
    pub fn window(&self, isa: &Isa, pc: u64, cells: u32) -> u128 {
        let code = &self.memories[isa.pc.memory.index()];
        let bits = isa.code_memory().cell.bits();
        let read = |offset: u32| {
            let address = pc.wrapping_add(u64::from(offset));
            if !isa.has_mapped_code {
                return code.get(address);
            }
            let (memory, address) = self.code_cell(isa, address);
            self.memory(memory).get(address)
        };
        let modes = isa.mode_bits(&self.registers);
        // Most instructions fit in 64 bits, which shift faster than 128.
        if cells * bits <= 64 {
            let window = (0..cells).fold(0u64, |window, offset| window.wrapping_shl(bits) | read(offset));
            return u128::from(window) << (128 - cells * bits) | modes;
        }
        (0..cells).fold(0, |window, offset| window << bits | u128::from(read(offset))) << (128 - cells * bits) | modes
    }
}
