//! Decoding: which instruction is at an address, and how its cells were read.

use std::sync::Arc;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{Fetch, Hook, RegisterId};
use lathe_isa::operand::Location;
use lathe_isa::semantics::{Block, Body, Expr, Statement, Use};
use lathe_isa::specialize::{specialize, specialize_hook, specialize_illegal};
use lathe_values::patched::{Cells, guarded_bits, patched};
use lathe_values::{Bail, Effects, Graph, Meaning, Reserved, SymbolicState, execute};
use lathe_vm::state::State;

use super::history::Treatment;
use crate::Fast;
use crate::armed::Armed;

/// A decoded instruction, specialized to its address, in the form that engines lower.
#[derive(Debug)]
pub struct Lowerable {
    /// The cycles of its row.
    pub cycles: u64,
    /// The hook before it, if that is part of every instruction.
    pub hook: Option<Hook>,
    /// Its meaning at this address; none if the encoding is undefined and that is a fault.
    pub body: Option<Body>,
    /// The address of the next instruction.
    pub next: u64,
    /// How its cells were read.
    pub reading: Reading,
    /// Where runs may stop.
    armed: Arc<Armed>,
    /// Whether it is left to the reference interpreter: a run may stop before it, or stores that are not watched may
    /// change it.
    is_left: bool,
}

impl Lowerable {
    /// Returns its meaning, unless it has none or is left to the reference interpreter for other reasons.
    pub fn meaning(&self) -> Option<Meaning<'_>> {
        let body = self.body.as_ref().filter(|_| !self.is_left)?;
        Some(Meaning { hook: self.hook.as_ref(), body, next: self.next, reserved: &self.armed.reserved })
    }

    /// Returns where it may lead: to the next instruction, or to the targets of its jumps.
    pub fn ways_on(&self) -> WaysOn {
        let mut ways = WaysOn { known: Vec::new(), is_computed: false };
        let Some(body) = &self.body else { return ways };
        let mut see = |statement: &Statement| {
            if let Statement::Jump(target) = statement {
                let before = ways.known.len();
                target.visit(&mut |part| ways.known.extend(part.as_constant().filter(|_| part.width == target.width)));
                ways.is_computed |= ways.known.len() == before;
            }
        };
        body.block.iter().for_each(|statement| statement.visit(&mut see));
        let ends =
            |statement: &Statement| matches!(statement, Statement::Jump(_) | Statement::Halt | Statement::Fault { .. });
        if !body.block.iter().any(ends) {
            ways.known.push(self.next);
        }
        ways
    }

    /// Calls a function for the registers that it may depend on and those that it may change, including those of the
    /// hook between instructions.
    pub fn visit_registers(&self, isa: &Isa, see: &mut impl FnMut(RegisterId, Use)) {
        // Whether something else is due is checked only after instructions that may have changed that.
        let due = isa.on_step.as_ref().filter(|_| self.hook.is_none()).map(|hook| &hook.when);
        let mut may_be_due = false;
        let mut note = |register, how| {
            let matters = |asked, _| asked == register;
            may_be_due |= how == Use::Written && due.is_some_and(|due| due.any_register(matters));
            see(register, how);
        };
        let hook = self.hook.iter().flat_map(|hook| [&hook.when, &hook.body]);
        self.body.iter().chain(hook).for_each(|body| body.visit_registers(&mut note));
        due.filter(|_| may_be_due).into_iter().for_each(|due| due.visit_registers(see));
    }
}

/// Where an instruction may lead. Numbers that it computes an address from may be among the addresses.
pub struct WaysOn {
    /// Addresses that it names.
    pub known: Vec<u64>,
    /// Whether it computes an address.
    pub is_computed: bool,
}

/// How the cells of an instruction were read. If they are still read the same way, it is still the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How many cells there are.
    pub(super) cells: u32,
    /// Their content, and the modes.
    pub(super) window: u128,
    /// The bits of modes that affect decoding.
    modes: u128,
    /// Cells that are read again at every execution.
    live: Cells,
    /// The bits of live cells that must not have changed.
    pub(super) guarded: u128,
    /// Whether the opcode changes so often that the instruction is looked up by its content every time.
    pub(super) volatile: bool,
}

impl Reading {
    /// Whether some of its cells are live: read at every execution.
    pub fn is_patched(&self) -> bool {
        !self.live.is_empty()
    }

    /// Whether its opcode changes so often that it must be looked up by its content, or interpreted, every time.
    pub fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// Returns the addresses of the watched cells of an instruction at this address.
    pub fn watched_cells(&self, isa: &Isa, pc: u64) -> impl Iterator<Item = u64> + use<> {
        let (cell, last) = (isa.code_memory().cell, isa.code_memory().last());
        let watched = self.watched(cell);
        let cells = (0..self.cells).filter(move |at| cell_of(watched, *at, cell) != 0);
        cells.map(move |at| pc.wrapping_add(u64::from(at)) & last)
    }

    /// Returns the bits that must not change behind an engine's back.
    pub(super) fn watched(&self, cell: Width) -> u128 {
        match self.volatile {
            true => 0,
            false => all_bits(self.cells, cell) & !self.live.bits(cell, self.cells) | self.modes,
        }
    }
}

/// Returns one cell of a window; zero past its end.
pub(super) fn cell_of(window: u128, at: u32, cell: Width) -> u64 {
    let shift = u128::BITS.checked_sub((at + 1) * cell.bits());
    shift.map_or(0, |shift| cell.wrap((window >> shift) as u64))
}

/// Returns the bits of this many cells in a window.
fn all_bits(cells: u32, cell: Width) -> u128 {
    u128::MAX << (128 - cells * cell.bits())
}

impl Fast {
    /// Returns the decoded instruction at an address, specialized to it.
    pub fn decode(&self, state: &State, pc: u64) -> Arc<Lowerable> {
        self.decode_window(pc, state.window(&self.isa, pc, self.longest))
    }

    /// Returns the instruction expected at an address, for an engine that decodes it long before it is reached.
    pub fn decode_ahead(&self, state: &State, pc: u64) -> Arc<Lowerable> {
        self.decode_window(pc, self.expected(state, pc, self.longest))
    }

    /// Returns what the cells at an address will hold when they are executed. Opcodes in live cells are taken as
    /// decoded: if a program keeps changing them, the cells may now hold something that is never executed.
    fn expected(&self, state: &State, pc: u64, cells: u32) -> u128 {
        let (now, known) = (self.head(state, pc, cells), self.reading(pc));
        known.map_or(now, |known| now & !known.guarded | known.window & known.guarded)
    }

    /// Decodes the volatile instruction at an address for one of its [contents](Fast::contents).
    pub fn decode_content(&self, pc: u64, content: u64) -> Arc<Lowerable> {
        let bits = self.longest * self.isa.code_memory().cell.bits();
        self.decode_window(pc, u128::from(content) << (u128::BITS - bits))
    }

    /// Decodes the instruction that these cells hold at an address. If it is part of a block, it is not decoded again.
    fn decode_window(&self, pc: u64, window: u128) -> Arc<Lowerable> {
        let is_it = |known: &&Arc<Lowerable>| !known.reading.volatile && self.is_read_as(pc, window, &known.reading);
        match self.decoded(pc).filter(is_it) {
            Some(known) => known.clone(),
            None => Arc::new(self.decode_anew(pc, window)),
        }
    }

    fn decode_anew(&self, pc: u64, window: u128) -> Lowerable {
        let isa = &*self.isa;
        let (live, volatile) = self.treatment(pc);
        let armed = self.armed.clone();
        let is_left = |cells| armed.stops.breakpoints.contains(&pc) || self.may_change_unseen(pc, cells);
        let Some(decoded) = isa.decode(window) else {
            let is_left = is_left(self.longest);
            let volatile = volatile || !live.is_empty();
            let (live, modes) = (Cells::default(), isa.mode_mask());
            let reading = Reading { cells: self.longest, window, modes, live, guarded: 0, volatile };
            let body = specialize_illegal(isa, pc);
            return Lowerable { cycles: 0, hook: self.hook(pc), body, next: pc, reading, armed, is_left };
        };
        let instruction = isa.instruction(decoded.instruction);
        let cells = instruction.encoding.cells;
        let next = isa.pc.width.wrap(pc.wrapping_add(u64::from(cells)));
        let location = Location { pc, next, width: isa.pc.width };
        let mut body = if live.is_empty() {
            specialize(isa, &decoded, location)
        } else {
            patched(isa, &decoded, location, window, live)
        };
        let modes = instruction.encoding.fixed.mask & isa.mode_mask();
        let window = window & (all_bits(cells, isa.code_memory().cell) | modes);
        if !volatile {
            let own = OwnCells { isa, pc, cells, window, live, reserved: &armed.reserved };
            own.replace_loads(&mut body.block);
        }
        let reading = Reading { cells, window, modes, live, guarded: guarded_bits(isa, &decoded, live), volatile };
        let (cycles, hook) = (instruction.cycles, self.hook(pc));
        let is_left = is_left(cells);
        Lowerable { cycles, hook, body: Some(body), next, reading, armed, is_left }
    }

    /// Returns the hook before the instruction at an address, if it is part of the instruction.
    fn hook(&self, pc: u64) -> Option<Hook> {
        let hook = self.isa.on_step.as_ref().filter(|_| self.has_hook_in_instructions)?;
        Some(specialize_hook(&self.isa, hook, pc))
    }

    /// Returns the live cells of an instruction, and whether it is volatile.
    fn treatment(&self, pc: u64) -> (Cells, bool) {
        match self.history.treatment(pc) {
            Treatment::Decoded(live) => (live, false),
            Treatment::Volatile => (Cells::default(), true),
        }
    }

    /// Whether a map fetches cells of an instruction from a memory that programs can write. Stores are watched by the
    /// address of the instruction, which is not the address stored to.
    fn may_change_unseen(&self, pc: u64, cells: u32) -> bool {
        let mut cells = (0..cells).map(|at| self.isa.pc.width.wrap(pc.wrapping_add(u64::from(at))));
        self.isa.has_mapped_code
            && cells.any(|address| self.fetch(address).is_some_and(|fetch| self.written.contains(&fetch.memory)))
    }

    /// Returns where a map fetches instructions at an address from, if not from the cells themselves.
    pub(super) fn fetch(&self, address: u64) -> Option<&Fetch> {
        self.isa.mapping(self.isa.pc.memory, address)?.code.as_ref()
    }

    /// Whether decoding an address ahead of time would read its cells like this.
    pub fn reads_like(&self, state: &State, pc: u64, reading: &Reading) -> bool {
        self.is_read_as(pc, self.expected(state, pc, reading.cells), reading)
    }

    /// Whether these cells would be read like this at an address.
    fn is_read_as(&self, pc: u64, window: u128, reading: &Reading) -> bool {
        let (live, volatile) = self.treatment(pc);
        let compared = reading.watched(self.isa.code_memory().cell) | reading.guarded;
        (window ^ reading.window) & compared == 0 && reading.live == live && reading.volatile == volatile
    }
}

/// The cells of an instruction that cannot change unseen. What it reads from them is known: if a store of its own hits
/// them, it is left to the reference interpreter before it has had any effect.
struct OwnCells<'i> {
    isa: &'i Isa,
    pc: u64,
    cells: u32,
    window: u128,
    live: Cells,
    reserved: &'i [Reserved],
}

impl OwnCells<'_> {
    fn replace_loads(&self, block: &mut Block) {
        for statement in block {
            match statement {
                Statement::Load { into, memory, address, cells } if *memory == self.isa.pc.memory => {
                    if let Some(known) = address.as_constant().and_then(|address| self.content(address, *cells)) {
                        *statement = Statement::Let(*into, known);
                    }
                }
                Statement::If { then, otherwise, .. } => {
                    self.replace_loads(then);
                    self.replace_loads(otherwise);
                }
                _ => {}
            }
        }
    }

    /// Returns the content of adjacent cells from an address on, if all of them are known.
    fn content(&self, address: u64, cells: u8) -> Option<Expr> {
        let memory = self.isa.code_memory();
        let cells: Option<Vec<Expr>> =
            (0..cells).map(|offset| self.cell(memory.address.wrap(address.wrapping_add(u64::from(offset))))).collect();
        memory.highest_first(cells?).into_iter().reduce(Expr::join)
    }

    fn cell(&self, address: u64) -> Option<Expr> {
        let memory = self.isa.code_memory();
        let at = u32::try_from(memory.address.wrap(address.wrapping_sub(self.pc))).ok()?;
        let fixed = at < self.cells && !self.live.contains(at);
        let is_reserved =
            |cells: &Reserved| cells.memory == self.isa.pc.memory && cells.reads && cells.addresses.contains(&address);
        if !fixed || self.isa.mapping(self.isa.pc.memory, address).is_some() || self.reserved.iter().any(is_reserved) {
            return None;
        }
        Some(Expr::constant(memory.cell, cell_of(self.window, at, memory.cell)))
    }
}

/// Executes the instruction symbolically from a frame on. Returns none if it must be left to the reference interpreter.
/// A jump to the instruction itself always is: if nothing else changes either, the machine stops there.
pub(super) fn effects_at(
    isa: &Isa,
    graph: &mut Graph,
    frame: &SymbolicState,
    lowerable: &Lowerable,
    pc: u64,
) -> Option<Effects> {
    let mut effects = execute(isa, graph, frame, &lowerable.meaning()?)?;
    if graph.as_constant(effects.next).is_none_or(|next| next == pc) {
        let stays = effects.goes_to(graph, pc);
        match graph.as_constant(stays) {
            Some(0) => {}
            Some(_) => return None,
            None => effects.bails.push(Bail::When(stays)),
        }
    }
    Some(effects).filter(|effects| effects.is_certain_before_devices(graph))
}
