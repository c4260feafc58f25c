//! Finds what the generator has no hardware for, before anything is written; and which writes to devices have to wait.

use lathe_base::{Span, limits};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, MemoryId};
use lathe_isa::semantics::{Block, Body, Expr, Statement};

use crate::Unsupported;
use crate::range::Ranges;
use crate::shape;

/// The most neighbouring cells that one access can reach.
const LANES: u32 = 16;

/// # Errors
/// If something cannot become hardware.
pub(crate) fn supported(isa: &Isa) -> Result<(), Unsupported> {
    let code = isa.code_memory();
    if isa.longest() > LANES || u128::from(isa.longest().next_power_of_two()) > code.cells() {
        return Err(Unsupported {
            what: format!("instructions of {} cells, which are fetched in one step", isa.longest()),
            help: format!(
                "give `{}` wider cells, or shorten the longest instruction to {LANES} cells or fewer",
                code.name
            ),
            place: code.span,
        });
    }
    if let Some(memory) = isa.memories.iter().find(|memory| memory.has_wide_addresses()) {
        return Err(Unsupported {
            what: format!("addresses of {} bits, as `{}` has", memory.address.bits(), memory.name),
            help: format!("give it addresses of {} bits or fewer", limits::TABLE_ADDRESS_BITS),
            place: memory.span,
        });
    }
    if let Some(mapping) = isa.maps.iter().find(|mapping| mapping.code.is_some()) {
        return Err(Unsupported {
            what: format!("code that is fetched through a map, as at 0x{:X} of `{}`", mapping.first, code.name),
            help: "leave out `with code`; a core fetches instructions from the cells themselves".to_owned(),
            place: mapping.span,
        });
    }
    if let Some((mode, _)) = isa.modes.first() {
        let mode = isa.register(*mode);
        return Err(Unsupported {
            what: format!("encodings that depend on a mode, as on `{}`", mode.name),
            help: "make it a `register`, and decide in the meanings".to_owned(),
            place: mode.span,
        });
    }
    let between = match &isa.on_step {
        None => vec![Past::default()],
        Some(hook) => {
            let mut walk = Walk::new(isa, isa.pc.span);
            let pasts = walk.body(&hook.body, vec![Past::default()])?;
            if !walk.deferred.is_empty() {
                return Err(Unsupported {
                    what: "a write to a device in `on step` before a read of the same device or a fault".to_owned(),
                    help: "read first, or leave the write to an instruction".to_owned(),
                    place: isa.pc.span,
                });
            }
            std::iter::once(Past::default()).chain(pasts.into_iter().filter(|past| !past.jumped)).collect()
        }
    };
    for instruction in &isa.instructions {
        Walk::new(isa, instruction.span).body(&instruction.body, between.clone())?;
    }
    match &isa.on_illegal {
        Some(body) => drop(Walk::new(isa, isa.pc.span).body(body, between)?),
        None => Walk::new(isa, isa.pc.span).fault(&between).map_err(|found| Unsupported {
            what: format!("{} when an undefined encoding follows `on step`", found.what),
            help: "say with `on illegal` what an undefined encoding does".to_owned(),
            ..found
        })?,
    }
    Ok(())
}

/// Returns the devices whose writes must wait until the body has ended, because a read of the same device or a fault
/// may follow: an instruction that faults has written to no device, and neither has one that waits for input.
pub(crate) fn deferred(isa: &Isa, body: &Body) -> Vec<DeviceId> {
    let mut walk = Walk::new(isa, isa.pc.span);
    // Errors have been reported before.
    let _ = walk.body(body, vec![Past::default()]);
    walk.deferred
}

/// What may have happened before a point in a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Past {
    /// An effect that cannot be undone: a cell written or input consumed.
    done: Option<String>,
    written: Vec<DeviceId>,
    jumped: bool,
}

struct Walk<'a> {
    isa: &'a Isa,
    place: Span,
    mapped: bool,
    deferred: Vec<DeviceId>,
    ranges: Ranges,
}

impl<'a> Walk<'a> {
    fn new(isa: &'a Isa, place: Span) -> Walk<'a> {
        Walk { isa, place, mapped: false, deferred: Vec::new(), ranges: Ranges::default() }
    }

    /// Returns all that may have happened by the end of a body.
    fn body(&mut self, body: &Body, pasts: Vec<Past>) -> Result<Vec<Past>, Unsupported> {
        let body = &shape::feasible(self.isa, body);
        self.ranges = Ranges::of(body);
        self.block(&body.block, pasts)
    }

    /// Returns all that may have happened by the end of a block.
    fn block(&mut self, block: &Block, mut pasts: Vec<Past>) -> Result<Vec<Past>, Unsupported> {
        for statement in block {
            pasts = self.statement(statement, pasts)?;
        }
        Ok(pasts)
    }

    fn statement(&mut self, statement: &Statement, mut pasts: Vec<Past>) -> Result<Vec<Past>, Unsupported> {
        match statement {
            Statement::If { condition, then, otherwise } => {
                let (mut all, other) = match condition.as_constant() {
                    Some(0) => (Vec::new(), self.block(otherwise, pasts)?),
                    Some(_) => (self.block(then, pasts)?, Vec::new()),
                    None => (self.block(then, pasts.clone())?, self.block(otherwise, pasts)?),
                };
                other.into_iter().for_each(|past| add(&mut all, past));
                return Ok(all);
            }
            Statement::Load { memory, address, .. } => return self.reach(*memory, address, true, pasts),
            Statement::Store { memory, address, .. } => return self.reach(*memory, address, false, pasts),
            Statement::DeviceRead { device, operation, .. } => {
                let defer = pasts.iter().any(|past| past.written.contains(device));
                if defer && !self.deferred.contains(device) {
                    self.deferred.push(*device);
                }
                if self.isa.devices[device.index()].kind.consumes(*operation) {
                    let what = format!("a read from {}", self.isa.devices[device.index()].name);
                    pasts.iter_mut().for_each(|past| past.done = Some(what.clone()));
                }
            }
            Statement::DeviceWrite { device, .. } => {
                for past in pasts.iter_mut().filter(|past| !past.written.contains(device)) {
                    past.written.push(*device);
                }
            }
            Statement::Jump(_) => pasts.iter_mut().for_each(|past| past.jumped = true),
            Statement::Fault { .. } => {
                self.fault(&pasts)?;
                return Ok(Vec::new());
            }
            Statement::Let(..)
            | Statement::SetRegister(..)
            | Statement::SetOperand(..)
            | Statement::Halt
            | Statement::Cycles(_) => {}
        }
        Ok(pasts)
    }

    fn fault(&mut self, pasts: &[Past]) -> Result<(), Unsupported> {
        for device in pasts.iter().flat_map(|past| &past.written) {
            if !self.deferred.contains(device) {
                self.deferred.push(*device);
            }
        }
        match pasts.iter().find_map(|past| past.done.as_ref()) {
            None => Ok(()),
            Some(done) => Err(Unsupported {
                what: format!("{done} that a fault may have to take back"),
                help: "let the instruction find out whether it faults before it stores anything or reads from a device"
                    .to_owned(),
                place: self.place,
            }),
        }
    }

    fn reach(
        &mut self,
        memory: MemoryId,
        address: &Expr,
        is_load: bool,
        pasts: Vec<Past>,
    ) -> Result<Vec<Past>, Unsupported> {
        let mut all = Vec::new();
        let isa = self.isa;
        let is_mapped = self.mapped;
        let maps = isa.maps.iter().filter(|map| map.memory == memory && !is_mapped);
        let (first, last) = self.ranges.expression(address);
        let fits = |map: &&lathe_isa::model::Mapping| map.first <= last && first <= map.last;
        for map in maps.filter(fits) {
            self.mapped = true;
            let after = self.block(if is_load { &map.read.block } else { &map.write.block }, pasts.clone());
            self.mapped = false;
            after?.into_iter().for_each(|past| add(&mut all, past));
        }
        for mut past in pasts {
            if !is_load {
                past.done = Some(format!("a store to {}", self.isa.memory(memory).name));
            }
            add(&mut all, past);
        }
        Ok(all)
    }
}

fn add(pasts: &mut Vec<Past>, past: Past) {
    if !pasts.contains(&past) {
        pasts.push(past);
    }
}
