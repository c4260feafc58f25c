//! What the core is made of, found out once: lanes of memories, positions of registers, messages of faults, operations
//! of devices.

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, Domain, FieldId, MemoryId, Operation, RegisterId};
use lathe_isa::semantics::{Body, Statement};

use crate::divide;
use crate::maps::Maps;
use crate::names::Names;
use crate::operands::Operands;

/// What the parts of the core have to know about each other.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) names: Names,
    /// The operands of all instructions.
    pub(crate) operands: Operands,
    /// How many neighbouring cells of each memory one step reaches: a power of two.
    pub(crate) lanes: Vec<u32>,
    /// Registers that can change, with the position of their lowest bit in `reset_registers` and `retire_registers`.
    pub(crate) registers: Vec<(RegisterId, u32)>,
    /// The total width of these registers.
    pub(crate) register_bits: u32,
    /// The meanings of the values of `fault_code`. The first is an undefined encoding.
    pub(crate) messages: Vec<String>,
    /// The width of the number that goes with a fault.
    pub(crate) detail_bits: u32,
    /// All device operations that the definition uses.
    pub(crate) operations: Vec<(DeviceId, Operation)>,
    /// The width of the division unit, if there is one.
    pub(crate) division: Option<u32>,
    /// The maps over memories.
    pub(crate) maps: Maps,
}

/// The message for an encoding that no row has.
pub const UNDEFINED: &str = "undefined instruction";

impl Shape {
    pub(crate) fn new(isa: &Isa) -> Shape {
        let mut messages = vec![UNDEFINED.to_owned()];
        let mut detail_bits = 1;
        let mut used: Vec<(DeviceId, DeviceOperation)> = Vec::new();
        for body in bodies(isa) {
            for statement in &body.block {
                statement.visit(&mut |statement| match statement {
                    Statement::Fault { message, detail } => {
                        if !messages.contains(message) {
                            messages.push(message.clone());
                        }
                        detail_bits = detail_bits.max(detail.as_ref().map_or(1, |detail| detail.width.bits()));
                    }
                    Statement::DeviceRead { device, operation, .. }
                    | Statement::DeviceWrite { device, operation, .. } => {
                        used.push((*device, *operation));
                    }
                    _ => {}
                });
            }
        }
        let mut registers = Vec::new();
        let mut register_bits = 0;
        for (id, register) in (0..).map(RegisterId).zip(&isa.registers).filter(|(_, register)| !register.constant) {
            registers.push((id, register_bits));
            register_bits += register.width.bits();
        }
        let mut operations = Vec::new();
        for (id, device) in (0..).map(DeviceId).zip(&isa.devices) {
            let known = device.kind.operations().into_iter().filter(|known| used.contains(&(id, known.operation)));
            operations.extend(known.map(|known| (id, known)));
        }
        let lanes = (0..isa.memories.len() as u32).map(|at| lanes(isa, MemoryId(at))).collect();
        let division = divide::widest(isa);
        let mut names = Names::new(isa);
        let operands = Operands::new(isa, &mut names);
        let maps = Maps::new(isa);
        Shape { names, operands, lanes, registers, register_bits, messages, detail_bits, operations, division, maps }
    }

    /// Returns the number of a fault's message.
    pub(crate) fn fault_code(&self, message: &str) -> usize {
        self.messages.iter().position(|known| known == message).unwrap_or(0)
    }

    /// Returns the width of a fault's number.
    pub(crate) fn fault_bits(&self) -> u32 {
        Width::to_tell_apart(self.messages.len()).bits()
    }

    /// Returns the width of the longest instruction.
    pub(crate) fn window_bits(isa: &Isa) -> u32 {
        isa.longest() * isa.code_memory().cell.bits()
    }
}

/// Returns all bodies of the machine.
pub(crate) fn bodies(isa: &Isa) -> Vec<&Body> {
    let rows = isa.instructions.iter().map(|instruction| &*instruction.body);
    let hook = isa.on_step.iter().map(|hook| &hook.body);
    let maps = isa.maps.iter().flat_map(|map| [&map.read, &map.write]);
    rows.chain(isa.on_illegal.as_ref()).chain(hook).chain(maps).collect()
}

/// Returns the field that stands for a register list: fields with the same list share the logic of the first of them.
pub(crate) fn register_list(isa: &Isa, field: FieldId) -> FieldId {
    let domain = &isa.field(field).domain;
    let same = |other: &usize| match (&isa.fields[*other].domain, domain) {
        (Domain::Registers(a), Domain::Registers(b)) => {
            let places = |list: &[Option<(String, lathe_isa::model::Place)>]| -> Vec<_> {
                list.iter().map(|entry| entry.as_ref().map(|(_, place)| place.clone())).collect()
            };
            places(a) == places(b)
        }
        _ => false,
    };
    (0..isa.fields.len()).find(same).map_or(field, |at| FieldId(at as u32))
}

/// Whether a device answers in the next cycle: operations with arguments do, as a memory does, so that no combinational
/// loop runs through the device.
pub(crate) fn answers_later(operation: &Operation) -> bool {
    operation.result.is_some() && !operation.arguments.is_empty()
}

/// Whether a signal requests the operation; if not, the answer can be read at any time.
pub(crate) fn is_asked(isa: &Isa, device: DeviceId, operation: &Operation) -> bool {
    let takes = isa.devices[device.index()].kind.consumes(operation.operation);
    !operation.arguments.is_empty() || operation.result.is_none() || takes
}

/// Whether a device may make the core wait.
pub(crate) fn may_wait(isa: &Isa, device: DeviceId, operation: DeviceOperation) -> bool {
    let kind = isa.devices[device.index()].kind;
    matches!(kind, DeviceKind::Stream | DeviceKind::Bus { .. })
        && matches!(operation, DeviceOperation::Read | DeviceOperation::Write)
}

/// Returns the names of an operation's arguments.
pub(crate) fn argument_names(kind: DeviceKind, operation: DeviceOperation) -> &'static [&'static str] {
    use DeviceOperation::{Down, Get, Read, Row, Scroll, Set, SetRow, Write};
    match (kind, operation) {
        (DeviceKind::Bus { .. }, Read) => &["address"],
        (DeviceKind::Bus { .. }, Write) => &["address", "data"],
        (DeviceKind::Display { .. }, Get) => &["x", "y"],
        (DeviceKind::Display { .. }, Set) => &["x", "y", "data"],
        (DeviceKind::Display { .. }, Scroll) => &["dx", "dy"],
        (DeviceKind::Display { width: ..=64, .. }, Row) => &["y"],
        (DeviceKind::Display { width: ..=64, .. }, SetRow) => &["y", "data"],
        (DeviceKind::Display { .. }, Row) => &["x", "y"],
        (DeviceKind::Display { .. }, SetRow) => &["x", "y", "data"],
        (DeviceKind::Keypad { .. }, Down) => &["address"],
        (_, Write) => &["data"],
        _ => &[],
    }
}

/// Returns a body in which accesses that a memory cannot do in one step are split into cells.
pub(crate) fn feasible(isa: &Isa, body: &Body) -> Body {
    body.cell_by_cell(isa, &|memory, cells| u32::from(cells) > most_lanes(isa, memory))
}

/// Returns how many neighbouring cells of a memory one step can reach. Under maps it is one, since each cell may be
/// mapped differently.
fn most_lanes(isa: &Isa, memory: MemoryId) -> u32 {
    if isa.maps.iter().any(|map| map.memory == memory) {
        return 1;
    }
    let described = isa.memory(memory);
    8.min(128 / described.cell.bits()).max(1).min(u32::try_from(described.cells()).unwrap_or(u32::MAX))
}

/// Returns how many neighbouring cells of a memory one step reaches.
fn lanes(isa: &Isa, memory: MemoryId) -> u32 {
    let mut most = if isa.pc.memory == memory { isa.longest() } else { 1 };
    let mut see = |statement: &Statement| match statement {
        Statement::Load { memory: reached, cells, .. } | Statement::Store { memory: reached, cells, .. }
            if *reached == memory && u32::from(*cells) <= most_lanes(isa, memory) =>
        {
            most = most.max(u32::from(*cells));
        }
        _ => {}
    };
    bodies(isa).into_iter().for_each(|body| body.block.iter().for_each(|statement| statement.visit(&mut see)));
    most.next_power_of_two()
}
