//! Maps over memories, where hardware has them: between the instructions and the memory, once for all instructions. An
//! instruction says which address it wants, and after the `case` the map at that address does its accesses. The
//! instruction has left numbers free for them, and goes on when they are done.

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, Mapping, MemoryId, Operation, RegisterId};
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, Statement};

use crate::body::{Common, Lowering};
use crate::expression::{number, range, select};
use crate::shape::{self, Shape};
use crate::writer::Writer;

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// How a machine's mappings appear in its core, in their order.
#[derive(Debug)]
pub(crate) struct Maps {
    all: Vec<Sides>,
}

#[derive(Debug)]
struct Sides {
    read: Side,
    write: Side,
    /// What a write does to registers, or to the next address, which is part of every instruction.
    core: Option<Body>,
}

/// What a read or write does to memories and devices.
#[derive(Debug)]
enum Side {
    /// It accesses the cell, as if nothing were mapped.
    Cell,
    /// One copy serves all instructions.
    Shared(Body),
    /// Every instruction needs its own copy.
    Own,
}

impl Maps {
    pub(crate) fn new(isa: &Isa) -> Maps {
        let sides = |mapping: &Mapping| {
            let read = shape::feasible(isa, &mapping.read);
            let write = shape::feasible(isa, &mapping.write);
            let (write, core) = match taken_apart(&write) {
                Some((accesses, core)) => (side(accesses, mapping.memory), core),
                None => (Side::Own, None),
            };
            let read = if changes_core(&read.block) { Side::Own } else { side(read, mapping.memory) };
            Sides { read, write, core }
        };
        Maps { all: isa.maps.iter().map(sides).collect() }
    }

    fn side(&self, at: usize, access: Access) -> &Side {
        match access {
            Access::Read => &self.all[at].read,
            Access::Write => &self.all[at].write,
        }
    }

    /// Whether a mapping affects an access.
    pub(crate) fn matters(&self, at: usize, access: Access) -> bool {
        let to_core = access == Access::Write && self.all[at].core.is_some();
        to_core || !matches!(self.side(at, access), Side::Cell)
    }

    /// Returns the effects of a write that are part of every instruction.
    pub(crate) fn core(&self, at: usize) -> Option<&Body> {
        self.all[at].core.as_ref()
    }

    fn of<'a>(&'a self, isa: &'a Isa, memory: MemoryId) -> impl Iterator<Item = usize> + 'a {
        (0..self.all.len()).filter(move |at| isa.maps[*at].memory == memory)
    }

    /// Whether one copy of the logic for an access to a memory and to devices can serve all instructions. It runs after
    /// the instruction has changed registers but reads their old values, so the instruction may not have `written` any
    /// register that it reads.
    pub(crate) fn can_share(
        &self,
        isa: &Isa,
        memory: MemoryId,
        access: Access,
        written: impl Fn(RegisterId) -> bool,
    ) -> bool {
        self.of(isa, memory).all(|at| match self.side(at, access) {
            Side::Cell => true,
            Side::Shared(body) => !body.effects().reads.into_iter().any(&written),
            Side::Own => false,
        })
    }

    /// Whether a write to a memory may reach a device.
    pub(crate) fn may_write(&self, isa: &Isa, memory: MemoryId, device: DeviceId) -> bool {
        self.of(isa, memory).any(|at| isa.maps[at].write.effects().devices.contains(&device))
    }

    /// Returns the mappings with a shared copy, and what it does.
    fn shared<'a>(
        &'a self,
        isa: &'a Isa,
        memory: MemoryId,
        access: Access,
    ) -> impl Iterator<Item = (&'a Mapping, &'a Body)> + 'a {
        self.of(isa, memory).filter_map(move |at| match self.side(at, access) {
            Side::Shared(body) if self.can_share(isa, memory, access, |_| false) => Some((&isa.maps[at], body)),
            _ => None,
        })
    }
}

/// Classifies the accesses of a read or write.
fn side(body: Body, memory: MemoryId) -> Side {
    let is = |expr: &Expr, local: u16| matches!(expr.kind, ExprKind::Local(id) if id.0 == local);
    let is_cell = match &body.block[..] {
        [Statement::Load { into, memory: reached, address, cells: 1 }] => {
            *reached == memory && is(address, 0) && body.value.as_ref().is_some_and(|value| is(value, into.0))
        }
        [Statement::Store { memory: reached, address, cells: 1, value }] => {
            *reached == memory && is(address, 0) && is(value, 1)
        }
        _ => false,
    };
    if is_cell { Side::Cell } else { Side::Shared(body) }
}

/// Whether a body has effects that the core repeats in every cycle: on registers, on the next address, on the number of
/// cycles.
fn changes_core(block: &[Statement]) -> bool {
    any(block, |statement| match statement {
        Statement::SetRegister(..)
        | Statement::SetOperand(..)
        | Statement::Jump(_)
        | Statement::Halt
        | Statement::Fault { .. }
        | Statement::Cycles(_) => true,
        Statement::Let(..)
        | Statement::Load { .. }
        | Statement::Store { .. }
        | Statement::DeviceRead { .. }
        | Statement::DeviceWrite { .. }
        | Statement::If { .. } => false,
    })
}

/// Splits a write into its effects on memories and devices and its effects on the core, if neither depends on the
/// other.
fn taken_apart(body: &Body) -> Option<(Body, Option<Body>)> {
    if !changes_core(&body.block) {
        return Some((body.clone(), None));
    }
    let effects = body.effects();
    let asks = |statement: &Statement| matches!(statement, Statement::Load { .. } | Statement::DeviceRead { .. });
    if effects.faults || any(&body.block, asks) {
        return None;
    }
    let reaches = |statement: &Statement| matches!(statement, Statement::Store { .. } | Statement::DeviceWrite { .. });
    let (mut accesses, mut core) = (Block::new(), Block::new());
    for statement in &body.block {
        let one = std::slice::from_ref(statement);
        match (any(one, reaches), changes_core(one)) {
            (true, true) => return None,
            (true, false) => accesses.push(statement.clone()),
            (false, true) => core.push(statement.clone()),
            (false, false) => {
                accesses.push(statement.clone());
                core.push(statement.clone());
            }
        }
    }
    if !any(&accesses, reaches) {
        accesses.clear();
    }
    let part = |block: Block| Body { locals: body.locals.clone(), block, value: None };
    let (accesses, core) = (part(accesses), part(core));
    let depends = accesses.effects().reads.iter().any(|register| effects.writes.contains(register));
    (!depends).then_some((accesses, Some(core)))
}

fn any(block: &[Statement], is_it: impl Fn(&Statement) -> bool) -> bool {
    let mut found = false;
    block.iter().for_each(|statement| statement.visit(&mut |inner| found |= is_it(inner)));
    found
}

/// How many access numbers a mapped access to a memory takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// The numbers that a read takes.
    pub(crate) reads: u32,
    /// The numbers that a write takes.
    pub(crate) writes: u32,
}

/// Returns a test of whether an address belongs to a mapping.
pub(crate) fn test(isa: &Isa, mapping: &Mapping, address: &str) -> String {
    let width = isa.memory(mapping.memory).address;
    let (first, last) = (number(width.bits(), mapping.first), number(width.bits(), mapping.last));
    match () {
        () if first == last => format!("{address} == {first}"),
        () if mapping.first == 0 => format!("{address} <= {last}"),
        () if mapping.last == width.mask() => format!("{address} >= {first}"),
        () => format!("({address} >= {first} && {address} <= {last})"),
    }
}

/// Writes the shared logic, and notes how many numbers instructions have to leave free for it.
pub(crate) fn write(isa: &Isa, shape: &Shape, common: &mut Common, out: &mut Writer) {
    common.maps = vec![Numbers::default(); isa.memories.len()];
    for memory in (0..isa.memories.len() as u32).map(MemoryId) {
        for access in [Access::Read, Access::Write] {
            let branches = branches(isa, shape, common, memory, access, out.depth() + 2);
            if branches.is_empty() {
                continue;
            }
            let count = branches.iter().map(|branch| branch.numbers).max().unwrap_or(1).max(1);
            match access {
                Access::Read => {
                    common.maps[memory.index()].reads = count;
                    read(isa, shape, common, out, memory, &branches);
                }
                Access::Write => {
                    common.maps[memory.index()].writes = count;
                    written(isa, shape, common, out, memory, &branches);
                }
            }
        }
    }
}

/// The logic for some addresses.
struct Branch {
    test: String,
    text: String,
    /// The value read.
    value: String,
    /// How many access numbers it takes.
    numbers: u32,
}

fn branches(
    isa: &Isa,
    shape: &Shape,
    common: &mut Common,
    memory: MemoryId,
    access: Access,
    depth: usize,
) -> Vec<Branch> {
    let name = shape.names.memory(memory);
    let (address, data) = (format!("{name}_mapped_address"), format!("{name}_mapped_data"));
    let mut branches = Vec::new();
    for (mapping, body) in shape.maps.shared(isa, memory, access) {
        let mut lowering = Lowering::mapped(isa, shape, common, format!("{name}_mapped_at"), depth);
        let given = match access {
            Access::Read => &[address.clone()][..],
            Access::Write => &[address.clone(), data.clone()],
        };
        let value = lowering.body(body, given).unwrap_or_default();
        let (text, way) = lowering.finish();
        // The answer to the last access needs one more cycle.
        let numbers = if access == Access::Read && answers_later(shape, body) { way.site + 1 } else { way.site };
        let test = test(isa, mapping, &address);
        match branches.iter_mut().find(|known: &&mut Branch| known.text == text && known.value == value) {
            Some(same) => same.test.push_str(&format!(" || {test}")),
            None => branches.push(Branch { test, text, value, numbers }),
        }
    }
    branches
}

/// Whether a body has an access whose answer comes in the next cycle.
fn answers_later(shape: &Shape, body: &Body) -> bool {
    any(&body.block, |statement| match statement {
        Statement::Load { .. } => true,
        Statement::DeviceRead { device, operation, .. } => {
            let is_it = |(id, known): &&(DeviceId, Operation)| id == device && known.operation == *operation;
            shape.operations.iter().find(is_it).is_some_and(|(_, known)| shape::answers_later(known))
        }
        _ => false,
    })
}

fn open(out: &mut Writer, at: usize, test: &str) {
    if at == 0 { out.open(format!("if ({test}) begin")) } else { out.turn(format!("end else if ({test}) begin")) }
}

fn read(isa: &Isa, shape: &Shape, common: &Common, out: &mut Writer, memory: MemoryId, branches: &[Branch]) {
    let name = shape.names.memory(memory);
    let after = number(common.step_bits, u64::from(common.maps[memory.index()].reads));
    out.line(format!(
        "// What is mapped over {name}: reading. The instruction goes on in the next cycle, when there is an answer."
    ));
    out.open(format!("if ({name}_mapped_read) begin"));
    out.line(format!("stop = 1'b0; {name}_found = 1'b1;"));
    for (at, branch) in branches.iter().enumerate() {
        open(out, at, &branch.test);
        out.raw(&branch.text);
        out.line(format!("{name}_found_value = {};", branch.value));
    }
    out.turn("end else begin");
    out.line(format!("{name}_read = 1'b1; {name}_address = {name}_mapped_address; {name}_found = 1'b0;"));
    if isa.memory(memory).is_large() {
        out.line(format!("if (!{name}_ready) stop = 1'b1;"));
    }
    out.close("end");
    // An instruction that waits here may still use the answer to its last access.
    out.open("if (stop) begin");
    out.line(format!("{name}_found = {name}_found_q; {name}_found_value = {name}_found_value_q;"));
    out.turn("end else begin");
    out.line(format!("step_next = {name}_mapped_at + {after};"));
    out.close("end");
    out.line("stop = 1'b1;");
    out.close("end");
}

fn written(isa: &Isa, shape: &Shape, common: &Common, out: &mut Writer, memory: MemoryId, branches: &[Branch]) {
    let name = shape.names.memory(memory);
    let (lanes, cell) = (shape.lanes[memory.index()], isa.memory(memory).cell.bits());
    let after = number(common.step_bits, u64::from(common.maps[memory.index()].writes));
    out.line(format!(
        "// What is mapped over {name}: writing. The instruction may have come to its end, or to its next access."
    ));
    out.open(format!("if ({name}_mapped_write) begin"));
    out.line("held = stop; stop = 1'b0; busy = 1'b0;");
    for (at, branch) in branches.iter().enumerate() {
        open(out, at, &branch.test);
        out.raw(&branch.text);
    }
    out.turn("end else begin");
    let data = crate::expression::extend(&format!("{name}_mapped_data"), cell, cell * lanes);
    out.line(format!("`{name}_store({name}_mapped_at, {name}_mapped_address, {}, {data})", number(lanes, 1)));
    out.close("end");
    out.line(format!("if (!stop) step_next = {name}_mapped_at + {after};"));
    out.line("if (held) stop = 1'b1;");
    out.close("end");
}

/// Returns the memories whose maps have shared logic, and how many numbers it takes.
fn shared<'a>(
    isa: &'a Isa,
    shape: &'a Shape,
    common: &'a Common,
) -> impl Iterator<Item = (MemoryId, &'a str, Numbers)> + 'a {
    let ids = (0..isa.memories.len() as u32).map(MemoryId);
    ids.zip(&common.maps)
        .filter(|(_, numbers)| numbers.reads + numbers.writes > 0)
        .map(|(id, numbers)| (id, shape.names.memory(id), *numbers))
}

/// Returns the names that keep a read until the next one, with their widths.
pub(crate) fn found(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    let reads = shared(isa, shape, common).filter(|(_, _, numbers)| numbers.reads > 0);
    reads
        .flat_map(|(id, name, _)| {
            [(1, format!("{name}_found")), (isa.memory(id).cell.bits(), format!("{name}_found_value"))]
        })
        .collect()
}

/// Returns the names of an instruction's requests, with their widths.
pub(crate) fn said(isa: &Isa, shape: &Shape, common: &Common) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    for (id, name, numbers) in shared(isa, shape, common) {
        let memory = isa.memory(id);
        let mut add = |bits: u32, ending: &str| all.push((bits, format!("{name}_mapped_{ending}")));
        if numbers.reads > 0 {
            add(1, "read");
        }
        if numbers.writes > 0 {
            add(1, "write");
        }
        add(common.step_bits, "at");
        add(memory.address.bits(), "address");
        if numbers.writes > 0 {
            add(memory.cell.bits(), "data");
        }
    }
    if shared(isa, shape, common).any(|(_, _, numbers)| numbers.writes > 0) {
        all.push((1, "held".to_owned()));
    }
    all
}

/// Writes which value was read: the map's or the memory's.
pub(crate) fn answers(isa: &Isa, shape: &Shape, common: &Common, out: &mut Writer) {
    for (id, name, _) in shared(isa, shape, common).filter(|(_, _, numbers)| numbers.reads > 0) {
        let (cell, lanes) = (isa.memory(id).cell.bits(), shape.lanes[id.index()]);
        let value = select(&format!("{name}_value"), cell * lanes, 0, cell);
        out.line(format!("wire {}{name}_answer = {name}_found_q ? {name}_found_value_q : {value};", range(cell)));
    }
}

/// Writes the accesses of instructions as macros.
pub(crate) fn accesses(isa: &Isa, shape: &Shape, common: &Common, out: &mut Writer) {
    for (_, name, numbers) in shared(isa, shape, common) {
        let last = |count: u32| match count {
            1 => "AT".to_owned(),
            _ => format!("AT + {}", number(common.step_bits, u64::from(count - 1))),
        };
        let said = format!("{name}_mapped_at = AT; {name}_mapped_address = ADDRESS;");
        if numbers.reads > 0 {
            out.define(
                &format!("{name}_mapped_load(AT, ADDRESS)"),
                &format!(
                    "if (!stop && step <= {}) begin
  if (!busy) begin {name}_mapped_read = 1'b1; {said} end
  stop = 1'b1;
end",
                    last(numbers.reads)
                ),
            );
        }
        if numbers.writes > 0 {
            out.define(
                &format!("{name}_mapped_store(AT, ADDRESS, DATA)"),
                &format!(
                    "if (!stop && step <= {}) begin
  if (busy) stop = 1'b1; else begin
    {name}_mapped_write = 1'b1; {said} {name}_mapped_data = DATA;
    busy = 1'b1;
  end
end",
                    last(numbers.writes)
                ),
            );
        }
    }
}

/// Returns the names of these macros.
pub(crate) fn macros(isa: &Isa, shape: &Shape, common: &Common) -> Vec<String> {
    let names = |(_, name, numbers): (MemoryId, &str, Numbers)| {
        let read = (numbers.reads > 0).then(|| format!("{name}_mapped_load"));
        let write = (numbers.writes > 0).then(|| format!("{name}_mapped_store"));
        read.into_iter().chain(write)
    };
    shared(isa, shape, common).flat_map(names).collect()
}
