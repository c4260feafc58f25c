//! Registers as a memory, for a core in which multiplexers that choose among registers would take more room than
//! everything else. The registers that operands name become cells of a memory, which are read and written one at a time
//! and so can be block RAM.
//!
//! This changes the definition, before any Verilog is written: a small core is the core of a machine with a memory in
//! place of these registers. Nothing that writes, simulates or proves cores knows of the change.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{Domain, Field, FieldId, Memory, MemoryId, Order, Place, RegisterId};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, LocalId, OperandId, Statement};

use crate::{Program, Unsupported};

/// A machine with a memory in place of some of its registers.
#[derive(Clone, Debug)]
pub struct Small {
    /// The machine.
    pub isa: Isa,
    /// The memory.
    pub memory: MemoryId,
    /// The registers, with the cell of each.
    pub registers: BTreeMap<RegisterId, u64>,
}

impl Small {
    /// Puts the longest register list that an operand names in a memory.
    ///
    /// # Errors
    /// If there is no such list, or its registers are used in a way that a memory does not support.
    pub fn new(isa: &Isa) -> Result<Small, Unsupported> {
        let lists = isa.fields.iter().filter_map(|field| Some((field, whole_registers(isa, field)?)));
        let Some((field, list)) = lists.max_by_key(|(_, list)| list.len()) else {
            return Err(Unsupported {
                what: "this style, in which registers are in a memory: no operand names whole registers of one width"
                    .to_owned(),
                help: "leave out `--style small`".to_owned(),
                place: isa.pc.span,
            });
        };
        let memory = MemoryId(isa.memories.len() as u32);
        let changes = Changes {
            isa,
            memory,
            address: field.width,
            cell: field.value_width(isa.pc.width),
            cells: list.iter().enumerate().rev().map(|(cell, register)| (*register, cell as u64)).collect(),
        };
        changes.check()?;
        Ok(changes.make(field))
    }

    /// Converts a program of the original machine: the first values of the registers move to the memory.
    pub fn program(&self, before: &Isa, program: &Program) -> Program {
        let mut program = program.clone();
        program.cells.resize(self.isa.memories.len(), Vec::new());
        let begins = self.registers.iter().map(|(register, cell)| (*cell, program.register(*register, before)));
        program.cells[self.memory.index()] = begins.filter(|(_, value)| *value != 0).collect();
        program.cells[self.memory.index()].sort_unstable();
        program.registers.retain(|register, _| !self.registers.contains_key(register));
        program
    }
}

/// Returns the registers that an operand names, if it names only whole registers, one for each of its codes, and some
/// of them can change.
fn whole_registers(isa: &Isa, field: &Field) -> Option<Vec<RegisterId>> {
    let Domain::Registers(list) = &field.domain else { return None };
    let whole = |entry: &Option<(String, Place)>| match &entry.as_ref()?.1.parts[..] {
        [part] if part.low == 0 && part.width == isa.register(part.register).width => Some(part.register),
        _ => None,
    };
    let registers: Vec<RegisterId> = list.iter().map(whole).collect::<Option<_>>()?;
    let can_change = registers.iter().any(|register| !isa.register(*register).constant);
    (can_change && registers.len() as u64 == 1 << field.width.bits()).then_some(registers)
}

/// The change to a definition.
struct Changes<'a> {
    isa: &'a Isa,
    memory: MemoryId,
    address: Width,
    cell: Width,
    /// The address of each register in the memory; constants have a cell that nothing reads.
    cells: BTreeMap<RegisterId, u64>,
}

/// The register that a code of an operand names.
#[derive(Clone, Copy, Debug)]
struct Cell {
    address: u64,
    /// Its value if it is a constant instead of a cell.
    constant: Option<u64>,
}

impl Changes<'_> {
    /// Checks that the definition uses these registers only in ways that cells support.
    fn check(&self) -> Result<(), Unsupported> {
        let refuse =
            |what: String, place| Err(Unsupported { what, help: "leave out `--style small`".to_owned(), place });
        for field in &self.isa.fields {
            let Domain::Registers(list) = &field.domain else { continue };
            let parts = list.iter().flatten().flat_map(|(_, place)| &place.parts);
            let is_ours = parts.into_iter().any(|part| self.moves(part.register));
            if is_ours && self.codes(field).is_none() {
                let what = format!(
                    "this style, in which registers are in a memory: `{}` names some of them beside others, or parts of them",
                    field.name
                );
                return refuse(what, field.span);
            }
        }
        let hook = self.isa.on_step.as_ref();
        let asked = hook.map(|hook| hook.when.effects().reads).unwrap_or_default();
        let fetched = self.isa.banked_by.iter().chain(self.isa.modes.iter().map(|(register, _)| register));
        match asked.iter().chain(fetched).find(|register| self.moves(**register)) {
            None => Ok(()),
            Some(register) => {
                let register = self.isa.register(*register);
                refuse(
                    format!(
                        "this style, in which `{}` is in a memory: it is looked at before every instruction",
                        register.name
                    ),
                    register.span,
                )
            }
        }
    }

    /// Whether a register becomes a cell.
    fn moves(&self, register: RegisterId) -> bool {
        self.cells.contains_key(&register) && !self.isa.register(register).constant
    }

    /// Returns the cell of each code of an operand, if all codes have one.
    fn codes(&self, field: &Field) -> Option<Vec<Cell>> {
        let cell = |register: RegisterId| {
            let known = self.isa.register(register);
            Some(Cell { address: *self.cells.get(&register)?, constant: known.constant.then_some(known.reset) })
        };
        let found = whole_registers(self.isa, field)?.into_iter().map(cell).collect::<Option<Vec<_>>>()?;
        (field.value_width(self.isa.pc.width) == self.cell).then_some(found)
    }

    fn make(&self, field: &Field) -> Small {
        let mut isa = self.isa.clone();
        let taken = |name: &str| self.isa.memories.iter().any(|memory| memory.name == name);
        let name = (1..).map(|count| if count == 1 { "registers".to_owned() } else { format!("registers{count}") });
        isa.memories.push(Memory {
            name: name.into_iter().find(|name| !taken(name)).unwrap_or_default(),
            address: self.address,
            cell: self.cell,
            order: Order::Little,
            documentation: "registers, by their numbers".to_owned(),
            span: field.span,
        });
        for (id, _) in self.cells.iter().filter(|(id, _)| self.moves(**id)) {
            // Nothing reads it any more.
            let register = &mut isa.registers[id.index()];
            (register.constant, register.reset) = (true, 0);
        }
        for instruction in &mut isa.instructions {
            instruction.body = Arc::new(self.body(&instruction.body, &instruction.operands));
        }
        for map in &mut isa.maps {
            (map.read, map.write) = (self.body(&map.read, &[]), self.body(&map.write, &[]));
        }
        isa.on_illegal = isa.on_illegal.map(|body| self.body(&body, &[]));
        if let Some(hook) = &mut isa.on_step {
            hook.body = self.body(&hook.body, &[]);
        }
        let registers = self.cells.iter().filter(|(id, _)| self.moves(**id)).map(|(id, cell)| (*id, *cell)).collect();
        Small { isa, memory: self.memory, registers }
    }

    fn body(&self, body: &Body, operands: &[FieldId]) -> Body {
        let mut walk = Walk { changes: self, operands, locals: body.locals.clone(), known: Vec::new() };
        let mut block = walk.block(&body.block);
        let mut value = body.value.clone();
        value.iter_mut().for_each(|value| walk.read(value, &mut block));
        Body { locals: walk.locals, block, value }
    }
}

/// How a body names a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Register(RegisterId),
    Operand(OperandId),
}

/// A path through a body.
struct Walk<'a> {
    changes: &'a Changes<'a>,
    operands: &'a [FieldId],
    locals: Vec<Width>,
    /// What has been read and not written since.
    known: Vec<(Name, LocalId)>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut out = Block::new();
        for statement in block {
            let mut statement = statement.clone();
            statement.expressions_mut().into_iter().for_each(|expr| self.read(expr, &mut out));
            match statement {
                Statement::If { condition, then, otherwise } => {
                    let before = self.known.clone();
                    let then = self.block(&then);
                    let after = std::mem::replace(&mut self.known, before);
                    let otherwise = self.block(&otherwise);
                    self.known.retain(|known| after.contains(known));
                    out.push(Statement::If { condition, then, otherwise });
                }
                Statement::SetRegister(register, value) if self.changes.moves(register) => {
                    self.write(Name::Register(register), value, &mut out);
                }
                Statement::SetOperand(operand, value) if self.codes(operand).is_some() => {
                    self.write(Name::Operand(operand), value, &mut out);
                }
                other => out.push(other),
            }
        }
        out
    }

    /// Returns the cells that the codes of an operand name, if they are in the memory.
    fn codes(&self, operand: OperandId) -> Option<Vec<Cell>> {
        self.changes.codes(self.changes.isa.field(*self.operands.get(usize::from(operand.0))?))
    }

    fn new_local(&mut self, width: Width) -> LocalId {
        self.locals.push(width);
        LocalId((self.locals.len() - 1) as u16)
    }

    /// Replaces registers by values read from the memory.
    fn read(&mut self, expr: &mut Expr, out: &mut Block) {
        expr.replace_leaves(&mut |leaf| {
            let name = match leaf.kind {
                ExprKind::Register(register) if self.changes.moves(register) => Name::Register(register),
                ExprKind::Operand(operand) if self.codes(operand).is_some() => Name::Operand(operand),
                _ => return None,
            };
            let known = self.known.iter().find(|(known, _)| *known == name).map(|(_, local)| *local);
            let local = known.unwrap_or_else(|| self.load(name, out));
            Some(Expr::local(self.changes.cell, local))
        });
    }

    fn load(&mut self, name: Name, out: &mut Block) -> LocalId {
        let cell = self.changes.cell;
        let mut local = self.new_local(cell);
        let (memory, address) = (self.changes.memory, self.address(name));
        out.push(Statement::Load { into: local, memory, address, cells: 1 });
        for (code, constant) in self.constants(name) {
            let value = Expr::choose(self.is(name, code), Expr::constant(cell, constant), Expr::local(cell, local));
            local = self.new_local(cell);
            out.push(Statement::Let(local, value));
        }
        self.known.push((name, local));
        local
    }

    fn write(&mut self, name: Name, value: Expr, out: &mut Block) {
        // A constant has a cell that nothing reads.
        let (memory, address) = (self.changes.memory, self.address(name));
        out.push(Statement::Store { memory, address, cells: 1, value });
        // Another name may refer to the same register.
        self.known.clear();
    }

    /// Returns the codes of an operand that name constants, with their values.
    fn constants(&self, name: Name) -> Vec<(u64, u64)> {
        let Name::Operand(operand) = name else { return Vec::new() };
        let codes = self.codes(operand).unwrap_or_default();
        (0..).zip(codes).filter_map(|(code, cell)| Some((code, cell.constant?))).collect()
    }

    fn code(&self, operand: OperandId) -> Expr {
        let field = self.changes.isa.field(self.operands[usize::from(operand.0)]);
        Expr { width: field.width, kind: ExprKind::Code(operand) }
    }

    /// Returns a test of whether an operand has this code.
    fn is(&self, name: Name, code: u64) -> Expr {
        let Name::Operand(operand) = name else { return Expr::constant(Width::BIT, 0) };
        let bits = self.code(operand);
        let code = Expr::constant(bits.width, code);
        Expr::binary(BinaryOperator::Equal, bits, code)
    }

    fn address(&self, name: Name) -> Expr {
        let width = self.changes.address;
        match name {
            Name::Register(register) => Expr::constant(width, self.changes.cells[&register]),
            Name::Operand(operand) => {
                let codes = self.codes(operand).unwrap_or_default();
                let bits = self.code(operand);
                if bits.width == width && (0..).zip(&codes).all(|(code, cell)| cell.address == code) {
                    return bits;
                }
                (0..).zip(codes).fold(Expr::constant(width, 0), |others, (code, cell)| {
                    Expr::choose(self.is(name, code), Expr::constant(width, cell.address), others)
                })
            }
        }
    }
}
