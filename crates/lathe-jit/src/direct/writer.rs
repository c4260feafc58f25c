//! Turns the lines of a block into code, in one pass. A value is in a register from the line that makes it to its last
//! use; when registers run out, one value is spilled to the stack.
//!
//! Variables stay where the engine keeps them. They are read at their first use in a block and written where it is
//! left.

use super::Finished;
use lathe_isa::model::RegisterId;

use super::assembler::{Alu, Assembler, Flags, Label, Later, Operand, Place, Reg, Section, Shift, Unary};
use super::listing::{
    BlockId, Early, Id, Lifetimes, Line, Listing, Op, Value, Variable, can_be_compared, short_number,
};
use crate::context::{Context, NO_JUMP, offset};
use crate::emit::{Comparison, Home, Operation, REGISTER, Type};
use crate::links::{self, Link, Usage};

/// The context.
const CONTEXT: Reg = Reg::RBX;
/// The guest registers.
const REGISTERS: Reg = Reg::RBP;
/// The budget, which is checked all the time.
const FUEL: Reg = Reg::R15;
/// The first values that are kept for all blocks; the others are on the stack.
const KEPT: [Reg; 3] = [Reg::R12, Reg::R13, Reg::R14];
/// Registers for the values of a block, besides unused registers of [`KEPT`]: a bit for each.
const FREE: u16 = 0b0000_1111_1100_0111;
/// Callee-saved registers.
const SAVED: [Reg; 6] = [Reg::RBX, Reg::RBP, Reg::R12, Reg::R13, Reg::R14, Reg::R15];
/// The most values that wait in registers to be assigned together; others wait on the stack.
const ASSIGNED_FROM_REGISTERS: u32 = 6;
/// No register, or no stack slot.
const NONE: u32 = u32::MAX;
/// Stack slots of every region that is linked with others: they share one stack frame. A region that needs more slots
/// is not linked.
const FRAME: u32 = 128;

/// What a region needs to be left for other regions and entered from them.
pub(super) struct Crossing<'a> {
    pub(super) bound: u64,
    pub(super) modes: &'a [(RegisterId, u64)],
}

fn bit(reg: Reg) -> u16 {
    1 << reg.0
}

/// The value that each register holds.
type Held = [Option<Id>; 16];

/// Rarely executed lines, written after all others.
struct Rare {
    label: Label,
    /// Where execution goes on after them.
    back: Label,
    first: usize,
    end: usize,
    held: Held,
    /// The values that have been spilled before them.
    on_stack: Vec<Id>,
}

/// A test of a condition.
#[derive(Clone, Copy)]
struct Test {
    asked: Asked,
    ty: Type,
    of: Of,
    with: With,
    /// The state of the flags after the test if the condition holds.
    flags: Flags,
}

impl Test {
    fn negated(self) -> Test {
        Test { flags: self.flags.negated(), ..self }
    }
}

/// What a test asks about two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Which is larger.
    Compared,
    /// Whether they have a bit in common.
    Common,
}

#[derive(Clone, Copy)]
enum Of {
    Register(Reg),
    /// This many bytes of memory.
    Place(u32, Place),
}

#[derive(Clone, Copy)]
enum With {
    Register(Reg),
    Number(i32),
}

/// The location of a value of the block being written.
#[derive(Clone, Copy)]
struct Whereabouts {
    register: u32,
    /// Its stack slot, once it has one.
    slot: u32,
    /// Whether it has been spilled there on the path to the current line.
    is_on_stack: bool,
}

pub(super) struct Writer {
    pub(super) assembler: Assembler,
    variables: Vec<(Type, Home)>,
    blocks: Vec<Label>,
    epilogue: Label,
    /// The exit for addresses where another region may go on.
    way_on: Label,
    frame: [Option<Later>; 2],
    /// The number of values that are kept for all blocks.
    kept: usize,
    /// Stack slots in use by this block, including those for kept values, and the most of any block.
    slots: u32,
    most_slots: u32,
    lifetimes: Lifetimes,
    held: Held,
    values: Vec<Whereabouts>,
    /// The line being written.
    line: usize,
    /// Registers that this line needs and that must not be taken for anything else: a bit for each.
    busy: u16,
    /// The values spilled on the path to the current line.
    on_stack: Vec<Id>,
    /// The variables that have been set early on that path.
    overwritten: Vec<Variable>,
    rare: Vec<Rare>,
}

impl Writer {
    pub(super) fn new() -> Writer {
        let mut assembler = Assembler::default();
        let (epilogue, way_on) = (assembler.label(), assembler.label());
        Writer {
            assembler,
            variables: Vec::new(),
            blocks: Vec::new(),
            epilogue,
            way_on,
            frame: [None; 2],
            kept: 0,
            slots: 0,
            most_slots: 0,
            lifetimes: Lifetimes::default(),
            held: [None; 16],
            values: Vec::new(),
            line: 0,
            busy: 0,
            on_stack: Vec::new(),
            overwritten: Vec::new(),
            rare: Vec::new(),
        }
    }

    /// Writes the prologue of the function, whose parameters are the context and the number of a block.
    pub(super) fn prologue(&mut self) {
        SAVED.iter().for_each(|reg| self.assembler.push(*reg));
        self.frame[0] = Some(self.assembler.add_later(Reg::RSP));
        self.assembler.copy(Type::I64, CONTEXT, Reg::RDI);
        self.assembler.copy(Type::I32, Reg::RSI, Reg::RSI);
        self.assembler.load(8, REGISTERS, Operand::Place(Place::at(CONTEXT, offset!(registers))));
        self.assembler.load(8, FUEL, Operand::Place(Place::at(CONTEXT, offset!(fuel))));
    }

    /// Writes the epilogue, and returns the finished code.
    pub(super) fn finish(mut self, crossing: Option<Crossing>) -> Finished {
        let is_possible = |crossing: &Crossing| self.most_slots <= FRAME && i32::try_from(crossing.bound).is_ok();
        let crossing = crossing.filter(is_possible);
        let ways_in = match &crossing {
            Some(crossing) => self.cross(crossing),
            None => Vec::new(),
        };
        if crossing.is_some() {
            self.most_slots = FRAME;
        } else {
            self.assembler.place(self.way_on);
        }
        self.assembler.place(self.epilogue);
        self.assembler.store(8, Place::at(CONTEXT, offset!(fuel)), FUEL);
        self.frame[1] = Some(self.assembler.add_later(Reg::RSP));
        SAVED.iter().rev().for_each(|reg| self.assembler.pop(*reg));
        self.assembler.leave();
        let size = self.most_slots as i32 * 8;
        for (later, number) in self.frame.into_iter().zip([-size, size]) {
            later.into_iter().for_each(|later| self.assembler.tell(later, number));
        }
        let (code, ways_in) = self.assembler.finish(&ways_in);
        Finished { code, ways_in }
    }

    /// Writes the entries from other regions, one for each block, and the exit to them. All regions of a machine keep
    /// the same things in the same registers, and everything else in memory, so going from one to another is a jump.
    fn cross(&mut self, crossing: &Crossing) -> Vec<Label> {
        let blocks = self.blocks.clone();
        let ways_in = blocks.iter().map(|block| self.way_in(*block, crossing.modes)).collect();
        self.way_on(crossing.bound);
        ways_in
    }

    /// Writes the entry of a block from other regions, which leaves at once in another mode.
    fn way_in(&mut self, block: Label, modes: &[(RegisterId, u64)]) -> Label {
        if modes.is_empty() {
            return block;
        }
        let way_in = self.assembler.label();
        self.assembler.place(way_in);
        for (register, value) in modes {
            let register = Place::at(REGISTERS, register.0 as i32 * REGISTER);
            self.assembler.alu_number(Alu::Compare, Type::I32, Operand::Place(register), *value as i32);
            self.assembler.jump_if(Flags::Unequal, self.epilogue);
        }
        self.assembler.jump(block);
        way_in
    }

    /// Writes the exit to other regions. It follows a link if there is one, if the budget suffices, and if it is not
    /// time for the engine to look at the region being left.
    fn way_on(&mut self, bound: u64) {
        let [pc, link, left, usage, steps, rest] = [Reg::RAX, Reg::RCX, Reg::RDX, Reg::RSI, Reg::RDI, Reg::R8];
        let context = |offset: i32| Operand::Place(Place::at(CONTEXT, offset));
        let of_link = |offset: i32| Operand::Place(Place::at(link, offset));
        let ty = Type::I64;
        let asm = &mut self.assembler;
        asm.place(self.way_on);
        asm.load(8, pc, context(offset!(pc)));
        asm.multiply_number(ty, link, pc, links::HASH);
        asm.shift_number(Shift::Right, ty, link, links::SHIFT);
        asm.alu(Alu::And, ty, link, context(offset!(link_mask)));
        asm.alu(Alu::Add, ty, link, context(offset!(links)));
        let found = asm.label();
        asm.alu(Alu::Compare, ty, pc, of_link(Link::PC));
        asm.jump_if(Flags::Equal, found);
        asm.alu_number(Alu::Xor, ty, Operand::Reg(link), links::OTHER);
        asm.alu(Alu::Compare, ty, pc, of_link(Link::PC));
        asm.jump_if(Flags::Unequal, self.epilogue);
        asm.place(found);
        asm.address(ty, left, Place::at(FUEL, bound as i32));
        asm.alu(Alu::Subtract, ty, left, of_link(Link::BOUND));
        asm.jump_if(Flags::Less, self.epilogue);
        asm.load(8, usage, context(offset!(current)));
        asm.load(8, steps, context(offset!(started)));
        asm.alu(Alu::Subtract, ty, steps, Operand::Reg(FUEL));
        asm.store(8, Place::at(CONTEXT, offset!(started)), FUEL);
        asm.load(8, rest, Operand::Place(Place::at(usage, Usage::LEFT)));
        asm.alu(Alu::Subtract, ty, rest, Operand::Reg(steps));
        asm.store(8, Place::at(usage, Usage::LEFT), rest);
        asm.jump_if(Flags::LessOrEqual, self.epilogue);
        asm.load(8, usage, of_link(Link::USAGE));
        asm.alu(Alu::Add, ty, usage, context(offset!(usages)));
        asm.store(8, Place::at(CONTEXT, offset!(current)), usage);
        asm.copy(ty, FUEL, left);
        asm.store(8, Place::at(CONTEXT, offset!(started)), FUEL);
        asm.store_number(8, Place::at(CONTEXT, offset!(jump)), NO_JUMP as i32);
        asm.load(8, link, of_link(Link::WAY_IN));
        asm.jump_to_register(link);
    }

    pub(super) fn variable(&mut self, ty: Type, home: Home) -> Variable {
        self.variables.push((ty, home));
        Variable(self.variables.len() as u32 - 1)
    }

    pub(super) fn type_of(&self, variable: Variable) -> Type {
        self.variables[variable.0 as usize].0
    }

    pub(super) fn new_kept(&mut self) -> u32 {
        self.kept += 1;
        self.kept as u32 - 1
    }

    pub(super) fn block(&mut self) -> BlockId {
        let label = self.assembler.label();
        self.blocks.push(label);
        BlockId(self.blocks.len() as u32 - 1)
    }

    pub(super) fn place(&mut self, block: BlockId) {
        self.assembler.place(self.blocks[block.0 as usize]);
    }

    /// Writes the lines of a block.
    pub(super) fn write(&mut self, listing: &Listing) {
        let variables = &self.variables;
        self.lifetimes.find(listing, |variable| place_of(variables[variable.0 as usize].1).is_err());
        self.held = [None; 16];
        let nowhere = Whereabouts { register: NONE, slot: NONE, is_on_stack: false };
        self.values.clear();
        self.values.resize(listing.lines.len(), nowhere);
        self.slots = self.kept.saturating_sub(KEPT.len()) as u32;
        self.most_slots = self.most_slots.max(self.slots);
        if let Some(Line { op: Op::Parameter, .. }) = listing.lines.first() {
            self.hold(Reg::RSI, Id(0));
        }
        self.lines(listing, 0, listing.lines.len());
        self.forget_stack(0);
        self.assembler.set_section(Section::Rare);
        while let Some(Rare { label, back, first, end, held, on_stack }) = self.rare.pop() {
            on_stack.iter().for_each(|id| self.values[id.line()].is_on_stack = true);
            self.on_stack = on_stack;
            self.assembler.place(label);
            self.become_as(&held);
            if !self.lines(listing, first, end) {
                self.line = end;
                self.come_back_to(listing, &held);
                self.assembler.jump(back);
            }
            self.forget_stack(0);
        }
        self.assembler.set_section(Section::Usual);
    }

    /// Forgets the values spilled on a path that has ended, except the first `count`, because other paths have not
    /// spilled them.
    fn forget_stack(&mut self, count: usize) {
        for id in self.on_stack.drain(count..) {
            self.values[id.line()].is_on_stack = false;
        }
    }

    /// Writes some lines. Returns whether they have gone elsewhere.
    fn lines(&mut self, listing: &Listing, first: usize, end: usize) -> bool {
        let mut line = first;
        let mut is_over = false;
        while line < end {
            self.line = line;
            self.busy = 0;
            self.let_go();
            match listing.lines[line].op {
                _ if self.lifetimes.is_put_off[line] => {}
                Op::If { condition, is_rare, otherwise } => {
                    (line, is_over) = self.branch(listing, condition, is_rare, otherwise as usize);
                }
                Op::Jump(block) => {
                    self.assembler.jump(self.blocks[block.0 as usize]);
                    self.overwritten.clear();
                    is_over = true;
                }
                Op::Leave | Op::GoOn => {
                    let is_final = matches!(listing.lines[line].op, Op::Leave);
                    self.assembler.jump(if is_final { self.epilogue } else { self.way_on });
                    self.overwritten.clear();
                    is_over = true;
                }
                op => {
                    self.operation(listing, op);
                    if let Some(early) = self.lifetimes.early[line] {
                        self.set_early(listing, early);
                    }
                }
            }
            line += 1;
        }
        is_over
    }

    /// Writes both ways of a branch. Returns the line where it ends, and whether both have gone elsewhere.
    fn branch(&mut self, listing: &Listing, condition: Value, is_rare: bool, otherwise: usize) -> (usize, bool) {
        let first = self.line + 1;
        let tests = self.tests(listing, condition);
        let held = self.held;
        let other = self.assembler.label();
        let end = match listing.lines[otherwise].op {
            Op::Else { end } => end as usize,
            _ => otherwise,
        };
        if is_rare && end == otherwise {
            for test in tests {
                let flags = self.compare(test);
                self.assembler.jump_if(flags, other);
            }
            let back = self.assembler.label();
            self.assembler.place(back);
            let on_stack = self.on_stack.clone();
            self.rare.push(Rare { label: other, back, first, end, held, on_stack });
            return (end, false);
        }
        self.skip_unless(&tests, other);
        let is_over = self.way(listing, first, otherwise, end, &held);
        if end == otherwise {
            self.assembler.place(other);
            return (end, false);
        }
        let after = self.assembler.label();
        if !is_over {
            self.assembler.jump(after);
        }
        self.assembler.place(other);
        let is_other_over = self.way(listing, otherwise + 1, end, end, &held);
        self.assembler.place(after);
        (end, is_over && is_other_over)
    }

    /// Jumps to a label if none of the conditions holds.
    fn skip_unless(&mut self, tests: &[Test], other: Label) {
        let here = self.assembler.label();
        let Some((last, tests)) = tests.split_last() else { return };
        for test in tests {
            let flags = self.compare(*test);
            self.assembler.jump_if(flags, here);
        }
        let flags = self.compare(*last);
        self.assembler.jump_if(flags.negated(), other);
        self.assembler.place(here);
    }

    /// Writes one way of a branch that ends at line `end`, where registers hold the same values as before the branch.
    /// Returns whether the way has gone elsewhere.
    fn way(&mut self, listing: &Listing, first: usize, last: usize, end: usize, held: &Held) -> bool {
        let count = self.on_stack.len();
        let is_over = self.lines(listing, first, last);
        self.line = end;
        if !is_over {
            self.come_back_to(listing, held);
        }
        self.forget_stack(count);
        self.become_as(held);
        is_over
    }

    fn operation(&mut self, listing: &Listing, op: Op) {
        let line = Id(self.line as u32);
        let ty = listing.lines[self.line].ty;
        match op {
            Op::Calculate(operation, x, y) => self.calculate(listing, operation, x, y),
            Op::Not(x) | Op::Negate(x) => {
                let to = self.copy_of(listing, x);
                let unary = if matches!(op, Op::Not(_)) { Unary::Not } else { Unary::Negate };
                self.assembler.unary(unary, ty, to);
                self.hold(to, line);
            }
            Op::Swap(bytes, x) => {
                let to = self.copy_of(listing, x);
                self.assembler.swap(ty, to);
                if bytes == 2 {
                    self.assembler.shift_number(Shift::Right, ty, to, 16);
                }
                self.hold(to, line);
            }
            Op::Bit(condition) => {
                let flags = self.flags(listing, condition);
                let to = self.new_register(listing);
                self.assembler.set(flags, to);
                self.assembler.load(1, to, Operand::Reg(to));
                self.hold(to, line);
            }
            Op::Choose(condition, x, y) => {
                let from = self.register(listing, x);
                let to = self.copy_of(listing, y);
                let flags = self.flags(listing, condition);
                self.assembler.copy_if(flags, ty, to, from);
                self.hold(to, line);
            }
            Op::WidenSigned(x) | Op::Narrow(x) => {
                let from = self.register(listing, x);
                let to = self.outcome(listing, from, x);
                match op {
                    Op::Narrow(_) => self.assembler.copy(Type::I32, to, from),
                    _ => self.assembler.load_signed(to, Operand::Reg(from)),
                }
                self.hold(to, line);
            }
            Op::Load { bytes, at, offset } => {
                let place = self.address(listing, at, offset);
                let to = self.new_register(listing);
                self.assembler.load(bytes, to, Operand::Place(place));
                self.hold(to, line);
            }
            Op::Store { bytes, value, at, offset } => {
                let place = self.address(listing, at, offset);
                match listing.number(value).and_then(|number| short_number(number, bytes)) {
                    Some(number) => self.assembler.store_number(bytes, place, number),
                    None => {
                        let from = self.register(listing, value);
                        self.assembler.store(bytes, place, from);
                    }
                }
            }
            Op::Assign { first, count } => self.assign(listing, first, count),
            Op::Keep(x, number) => {
                let from = self.register(listing, x);
                match kept(number as usize) {
                    Ok(reg) => self.assembler.copy(Type::I64, reg, from),
                    Err(place) => self.assembler.store(8, place, from),
                }
            }
            Op::Dispatch(number) => self.dispatch(listing, number),
            _ => {}
        }
    }

    /// Jumps to the block of this number, if there is one.
    fn dispatch(&mut self, listing: &Listing, number: Value) {
        let from = self.register(listing, number);
        let to = self.new_register(listing);
        let blocks = std::mem::take(&mut self.blocks);
        let table = self.assembler.label();
        self.assembler.alu_number(Alu::Compare, Type::I32, Operand::Reg(from), blocks.len() as i32);
        self.assembler.jump_if(Flags::AboveOrEqual, self.epilogue);
        self.assembler.address_of_label(to, table);
        let entry = Place { base: to, index: Some((from, 2)), distance: 0 };
        self.assembler.load_signed(from, Operand::Place(entry));
        self.assembler.alu(Alu::Add, Type::I64, to, Operand::Reg(from));
        self.assembler.jump_to_register(to);
        self.assembler.set_section(Section::Rare);
        self.assembler.place(table);
        self.assembler.table(table, &blocks);
        self.assembler.set_section(Section::Usual);
        self.blocks = blocks;
    }

    fn calculate(&mut self, listing: &Listing, operation: Operation, x: Value, y: Value) {
        match operation {
            Operation::ShiftLeft => self.shift(listing, Shift::Left, x, y),
            Operation::ShiftRight => self.shift(listing, Shift::Right, x, y),
            Operation::ShiftRightSigned => self.shift(listing, Shift::RightSigned, x, y),
            Operation::Divide | Operation::Remainder => self.divide(listing, Unary::Divide, operation, x, y),
            Operation::DivideSigned | Operation::RemainderSigned => {
                self.divide(listing, Unary::DivideSigned, operation, x, y);
            }
            Operation::Multiply => {
                let ty = listing.lines[self.line].ty;
                let number = listing.number(y).and_then(|number| short_number(number, ty.bytes()));
                let to = match number {
                    Some(number) => {
                        let from = self.register(listing, x);
                        let to = self.outcome(listing, from, x);
                        self.assembler.multiply_number(ty, to, from, number);
                        to
                    }
                    None => {
                        let from = self.register(listing, y);
                        let to = self.copy_of(listing, x);
                        self.assembler.multiply(ty, to, from);
                        to
                    }
                };
                self.hold(to, Id(self.line as u32));
            }
            Operation::Add => self.alu(listing, Alu::Add, x, y),
            Operation::Subtract => self.alu(listing, Alu::Subtract, x, y),
            Operation::And => self.alu(listing, Alu::And, x, y),
            Operation::Or => self.alu(listing, Alu::Or, x, y),
            Operation::Xor => self.alu(listing, Alu::Xor, x, y),
        }
    }

    fn alu(&mut self, listing: &Listing, alu: Alu, mut x: Value, mut y: Value) {
        let ty = listing.lines[self.line].ty;
        let is_symmetric = alu != Alu::Subtract;
        if is_symmetric && listing.number(x).is_some() {
            std::mem::swap(&mut x, &mut y);
        }
        let line = Id(self.line as u32);
        let number = listing.number(y);
        if let (Alu::And, Some(bytes)) = (alu, number.and_then(|number| whole_bytes(number, ty))) {
            let from = self.register(listing, x);
            let to = self.outcome(listing, from, x);
            self.assembler.load(bytes, to, Operand::Reg(from));
            return self.hold(to, line);
        }
        if let Some(number) = number.and_then(|number| short_number(number, ty.bytes())) {
            let from = self.register(listing, x);
            let to = self.outcome(listing, from, x);
            match alu {
                Alu::Add if to != from => self.assembler.address(ty, to, Place::at(from, number)),
                _ => {
                    if to != from {
                        self.assembler.copy(ty, to, from);
                    }
                    self.assembler.alu_number(alu, ty, Operand::Reg(to), number);
                }
            }
            return self.hold(to, line);
        }
        // The first operand becomes the outcome, so it should be dead after this line, and in a register.
        let is_in_memory = |writer: &mut Writer, value: Value| writer.place_to_read(listing, value).is_some();
        let is_better_first = |writer: &mut Writer, x: Value| writer.is_over_after(x) && !is_in_memory(writer, x);
        if is_symmetric && !is_better_first(self, x) && is_better_first(self, y) {
            std::mem::swap(&mut x, &mut y);
        }
        if alu == Alu::Add && !self.is_over_after(x) && !self.is_over_after(y) {
            let [base, index] = [x, y].map(|value| self.register(listing, value));
            let to = self.new_register(listing);
            self.assembler.address(ty, to, Place { base, index: Some((index, 0)), distance: 0 });
            return self.hold(to, line);
        }
        let from = match self.place_to_read(listing, y).filter(|(bytes, _)| *bytes == ty.bytes()) {
            Some((_, place)) => Operand::Place(place),
            None => Operand::Reg(self.register(listing, y)),
        };
        let to = self.copy_of(listing, x);
        self.assembler.alu(alu, ty, to, from);
        self.hold(to, line);
    }

    fn shift(&mut self, listing: &Listing, shift: Shift, x: Value, count: Value) {
        let ty = listing.lines[self.line].ty;
        let line = Id(self.line as u32);
        if let Some(count) = listing.number(count) {
            let to = self.copy_of(listing, x);
            self.assembler.shift_number(shift, ty, to, (count % u64::from(ty.bits())) as u8);
            return self.hold(to, line);
        }
        if self.held[Reg::RCX.index()] != Some(count.id) {
            let from = self.register(listing, count);
            self.clear(listing, Reg::RCX);
            self.assembler.copy(count.ty, Reg::RCX, from);
        }
        self.busy |= bit(Reg::RCX);
        // The copy must not be in the register of the count, even if the count itself is shifted.
        let from = self.register(listing, x);
        let to = self.new_register(listing);
        self.assembler.copy(ty, to, from);
        self.assembler.shift(shift, ty, to);
        self.hold(to, line);
    }

    fn divide(&mut self, listing: &Listing, unary: Unary, operation: Operation, x: Value, y: Value) {
        let ty = listing.lines[self.line].ty;
        self.clear(listing, Reg::RAX);
        self.clear(listing, Reg::RDX);
        let by = self.register(listing, y);
        let from = self.register(listing, x);
        self.assembler.copy(ty, Reg::RAX, from);
        match unary {
            Unary::DivideSigned => self.assembler.sign_into_rdx(ty),
            _ => self.assembler.alu(Alu::Xor, Type::I32, Reg::RDX, Operand::Reg(Reg::RDX)),
        }
        self.assembler.unary(unary, ty, by);
        let is_quotient = matches!(operation, Operation::Divide | Operation::DivideSigned);
        self.hold(if is_quotient { Reg::RAX } else { Reg::RDX }, Id(self.line as u32));
    }

    /// Sets the flags by a condition. Returns their state if it holds.
    fn flags(&mut self, listing: &Listing, condition: Value) -> Flags {
        let test = self.test(listing, condition);
        self.compare(test)
    }

    /// Returns tests for a condition, of which one must hold. All their operands are then where the tests read them, so
    /// that no register changes from one test to the next.
    fn tests(&mut self, listing: &Listing, condition: Value) -> Vec<Test> {
        match listing.op(condition) {
            Some(Op::Any { first, count }) => {
                listing.any(first, count).iter().map(|condition| self.test(listing, *condition)).collect()
            }
            _ => vec![self.test(listing, condition)],
        }
    }

    /// Returns a test for a condition. Its operands are then where the test reads them.
    fn test(&mut self, listing: &Listing, condition: Value) -> Test {
        let is_put_off = condition.id.as_kept().is_none() && self.lifetimes.is_put_off[condition.id.line()];
        match listing.op(condition) {
            Some(Op::Compare(comparison, mut x, mut y)) => {
                let mut flags = match comparison {
                    Comparison::Equal => Flags::Equal,
                    Comparison::Unequal => Flags::Unequal,
                    Comparison::Less => Flags::Below,
                    Comparison::LessOrEqual => Flags::BelowOrEqual,
                    Comparison::LessSigned => Flags::Less,
                    Comparison::LessOrEqualSigned => Flags::LessOrEqual,
                };
                if listing.number(x).is_some() {
                    std::mem::swap(&mut x, &mut y);
                    flags = flags.exchanged();
                }
                self.test_of(listing, Asked::Compared, x, y, flags)
            }
            Some(Op::IsZero(inner)) => self.test(listing, inner).negated(),
            Some(Op::Bit(inner)) if is_put_off => self.test(listing, inner),
            Some(Op::Calculate(Operation::And, x, y)) if is_put_off => {
                self.test_of(listing, Asked::Common, x, y, Flags::Unequal)
            }
            _ => self.test_of_number(listing, Asked::Compared, condition, 0, Flags::Unequal),
        }
    }

    fn test_of(&mut self, listing: &Listing, asked: Asked, x: Value, y: Value, flags: Flags) -> Test {
        if let Some(number) = listing.number(y).and_then(|number| short_number(number, x.ty.bytes())) {
            return self.test_of_number(listing, asked, x, number, flags);
        }
        let in_memory = |writer: &mut Writer, value: Value| {
            writer.place_to_read(listing, value).filter(|(bytes, _)| *bytes == x.ty.bytes())
        };
        let (of, other, flags) = match (in_memory(self, y), in_memory(self, x)) {
            (Some((bytes, place)), _) => (Of::Place(bytes, place), x, flags.exchanged()),
            (None, Some((bytes, place))) => (Of::Place(bytes, place), y, flags),
            (None, None) => (Of::Register(self.register(listing, x)), y, flags),
        };
        let with = With::Register(self.register(listing, other));
        Test { asked, ty: x.ty, of, with, flags }
    }

    fn test_of_number(&mut self, listing: &Listing, asked: Asked, x: Value, number: i32, flags: Flags) -> Test {
        let is_about_zero = asked == Asked::Compared && number == 0 && matches!(flags, Flags::Equal | Flags::Unequal);
        let place = self.place_to_read(listing, x).filter(|(bytes, _)| match asked {
            Asked::Compared => can_be_compared(*bytes, x.ty, number, flags.is_signed()),
            Asked::Common => *bytes == x.ty.bytes(),
        });
        if let Some((bytes, place)) = place {
            return Test { asked, ty: x.ty, of: Of::Place(bytes, place), with: With::Number(number), flags };
        }
        let reg = self.register(listing, x);
        match is_about_zero {
            true => Test { asked: Asked::Common, ty: x.ty, of: Of::Register(reg), with: With::Register(reg), flags },
            false => Test { asked, ty: x.ty, of: Of::Register(reg), with: With::Number(number), flags },
        }
    }

    /// Returns the bytes and place of a value in memory, if it is in no register and not needed in one later.
    fn place_to_read(&mut self, listing: &Listing, value: Value) -> Option<(u32, Place)> {
        if value.id.as_kept().is_some() || self.values[value.id.line()].register != NONE || !self.is_over_after(value) {
            return None;
        }
        if let Some(place) = self.on_stack(value.id) {
            return Some((value.ty.bytes(), place));
        }
        match listing.lines[value.id.line()] {
            Line { op: Op::Read(variable), .. } => {
                let (ty, home) = self.variables[variable.0 as usize];
                place_of(home).err().map(|place| (ty.bytes(), place))
            }
            Line { op: Op::Load { bytes, at, offset }, .. } if self.lifetimes.is_put_off[value.id.line()] => {
                Some((bytes, self.address(listing, at, offset)))
            }
            _ => None,
        }
    }

    /// Sets the flags by a test. Returns their state if the condition holds.
    fn compare(&mut self, test: Test) -> Flags {
        let Test { asked, ty, of, with, flags } = test;
        match (asked, of, with) {
            (Asked::Compared, Of::Register(reg), With::Register(other)) => {
                self.assembler.alu(Alu::Compare, ty, reg, Operand::Reg(other));
            }
            (Asked::Compared, Of::Register(reg), With::Number(number)) => {
                self.assembler.alu_number(Alu::Compare, ty, Operand::Reg(reg), number);
            }
            (Asked::Compared, Of::Place(_, place), With::Register(other)) => {
                self.assembler.alu(Alu::Compare, ty, other, Operand::Place(place));
                return flags.exchanged();
            }
            (Asked::Compared, Of::Place(bytes, place), With::Number(number)) => {
                self.assembler.compare_place(bytes, place, number);
            }
            (Asked::Common, Of::Register(reg), With::Register(other)) => {
                if reg != other || !self.assembler.is_tested(ty, reg) {
                    self.assembler.test(ty, reg, other);
                }
            }
            (Asked::Common, Of::Register(reg), With::Number(number)) => {
                self.assembler.test_number(ty, Operand::Reg(reg), number);
            }
            (Asked::Common, Of::Place(_, place), With::Number(number)) => {
                self.assembler.test_number(ty, Operand::Place(place), number);
            }
            (Asked::Common, Of::Place(_, place), With::Register(other)) => {
                self.assembler.test_place(ty, place, other);
            }
        }
        flags
    }

    /// Returns the place at an offset from an address.
    fn address(&mut self, listing: &Listing, at: Value, offset: i32) -> Place {
        let is_put_off = |writer: &Writer, value: Value| {
            value.id.as_kept().is_none() && writer.lifetimes.is_put_off[value.id.line()]
        };
        let (mut at, mut distance) = (at, offset);
        if let Some(Op::Calculate(Operation::Add, x, y)) = listing.op(at)
            && let Some(number) = listing.number(y)
            && is_put_off(self, at)
            && let Some(sum) = distance.checked_add(number as i32)
        {
            (at, distance) = (x, sum);
        }
        let Some(Op::Calculate(Operation::Add, x, y)) = listing.op(at).filter(|_| is_put_off(self, at)) else {
            return Place::at(self.register(listing, at), distance);
        };
        let base = self.register(listing, x);
        let (index, power) = match listing.op(y) {
            Some(Op::Calculate(Operation::ShiftLeft, index, count)) if is_put_off(self, y) => {
                (index, listing.number(count).unwrap_or(0) as u8)
            }
            _ => (y, 0),
        };
        let index = self.register(listing, index);
        Place { base, index: Some((index, power)), distance }
    }

    /// Writes the value of this line to a variable.
    fn set_early(&mut self, listing: &Listing, early: Early) {
        let from = Reg(self.values[self.line].register as u8);
        self.busy |= bit(from);
        self.overwritten.push(early.variable);
        for index in 0..self.lifetimes.readers(early.variable).len() {
            self.save(listing, early, Id(self.lifetimes.readers(early.variable)[index]));
        }
        let (ty, home) = self.variables[early.variable.0 as usize];
        if let Err(place) = place_of(home) {
            self.assembler.store(ty.bytes(), place, from);
        }
    }

    /// Reads the old value of a variable that is about to be set, if that value is used later.
    fn save(&mut self, listing: &Listing, early: Early, old: Id) {
        let is_used = old.0 < early.assigned && self.lifetimes.last[old.line()] as usize > self.line;
        if is_used && self.values[old.line()].register == NONE && self.on_stack(old).is_none() {
            let to = self.new_register(listing);
            self.bring(listing, old, to);
            self.hold(to, old);
            self.busy &= !bit(to);
        }
    }

    /// Sets variables, all at once, except those that have been set early.
    fn assign(&mut self, listing: &Listing, first: u32, count: u32) {
        let line = self.line as u32;
        let is_left = |assigned: &(Variable, Value)| !self.lifetimes.is_written_early(*assigned, line);
        let assigned: Vec<(Variable, Value)> = listing.assigned(first, count).iter().copied().filter(is_left).collect();
        let is_simple = |(variable, value): &(Variable, Value)| {
            let (ty, _) = self.variables[variable.0 as usize];
            let number = listing.number(*value);
            number.is_some_and(|number| short_number(number, ty.bytes()).is_some())
                || listing.variable_and_number(*value).is_some_and(|(other, _)| other == *variable)
        };
        let simple: Vec<bool> = assigned.iter().map(is_simple).collect();
        // All old values of variables are read before the first variable is written.
        let is_read = |value: Value| value.id.as_kept().is_none() && listing.variable_of(value.id).is_some();
        for ((_, value), _) in assigned.iter().zip(&simple).filter(|((_, value), simple)| !**simple && is_read(*value))
        {
            let reg = self.register(listing, *value);
            if self.busy.count_ones() > ASSIGNED_FROM_REGISTERS && value.id.as_kept().is_none() {
                self.hold(reg, value.id);
                self.write_to_stack(value.id);
                self.held[reg.index()] = None;
                self.values[value.id.line()].register = NONE;
                self.busy &= !bit(reg);
            }
        }
        for ((variable, value), is_simple) in assigned.iter().zip(simple) {
            let (ty, home) = self.variables[variable.0 as usize];
            if !is_simple {
                let busy = self.busy;
                let from = self.register(listing, *value);
                match place_of(home) {
                    Ok(reg) if reg == from => {}
                    Ok(reg) => self.assembler.copy(ty, reg, from),
                    Err(place) => self.assembler.store(ty.bytes(), place, from),
                }
                self.busy = busy;
                continue;
            }
            if let Some((_, number)) = listing.variable_and_number(*value) {
                let to = place_of(home).map_or_else(Operand::Place, Operand::Reg);
                self.assembler.alu_number(Alu::Add, ty, to, number);
            } else if let Some(number) = listing.number(*value) {
                match place_of(home) {
                    Ok(reg) => self.assembler.number(reg, number),
                    Err(place) => {
                        let number = short_number(number, ty.bytes()).unwrap_or_default();
                        self.assembler.store_number(ty.bytes(), place, number);
                    }
                }
            }
        }
    }

    /// Returns a register that holds a value, and reserves it for the rest of the line.
    fn register(&mut self, listing: &Listing, value: Value) -> Reg {
        let reg = self.find(listing, value);
        self.busy |= bit(reg);
        reg
    }

    fn find(&mut self, listing: &Listing, value: Value) -> Reg {
        if value.id == Id::CONTEXT {
            return CONTEXT;
        }
        if let Some(number) = value.id.as_kept() {
            return match kept(number) {
                Ok(reg) => reg,
                Err(place) => {
                    let to = self.new_register(listing);
                    self.assembler.load(8, to, Operand::Place(place));
                    to
                }
            };
        }
        let Whereabouts { register, .. } = self.values[value.id.line()];
        if register != NONE {
            return Reg(register as u8);
        }
        if let Some(reg) = self.is_variable_in_register(listing, value) {
            return reg;
        }
        let to = self.new_register(listing);
        let busy = self.busy;
        self.bring(listing, value.id, to);
        self.busy = busy;
        // A constant is as easily made again.
        if listing.number(value).is_none() {
            self.hold(to, value.id);
        }
        to
    }

    /// Returns the register of the variable that a value is read from, if that variable is always in a register.
    fn is_variable_in_register(&self, listing: &Listing, value: Value) -> Option<Reg> {
        let Some(Op::Read(variable)) = listing.op(value) else { return None };
        place_of(self.variables[variable.0 as usize].1).ok()
    }

    /// Loads a value that is in no register into one.
    fn bring(&mut self, listing: &Listing, id: Id, to: Reg) {
        let Line { op, ty } = listing.lines[id.line()];
        if let Some(place) = self.on_stack(id) {
            return self.assembler.load(8, to, Operand::Place(place));
        }
        match op {
            Op::Number(number) => self.assembler.number(to, number),
            Op::Read(variable) => {
                let (ty, home) = self.variables[variable.0 as usize];
                match place_of(home) {
                    Ok(reg) => self.assembler.copy(ty, to, reg),
                    Err(place) => self.assembler.load(ty.bytes(), to, Operand::Place(place)),
                }
            }
            Op::Load { bytes, at, offset } => {
                let place = self.address(listing, at, offset);
                self.assembler.load(bytes, to, Operand::Place(place));
            }
            _ => {
                let sum = listing.variable_and_number(Value { id, ty });
                let (variable, number) = sum.expect("any other value stays in a register or goes to the stack");
                let (_, home) = self.variables[variable.0 as usize];
                match place_of(home) {
                    Ok(reg) => self.assembler.copy(ty, to, reg),
                    Err(place) => self.assembler.load(ty.bytes(), to, Operand::Place(place)),
                }
                self.assembler.alu_number(Alu::Add, ty, Operand::Reg(to), number);
            }
        }
    }

    /// Whether a value can be rematerialized, so that it need not be spilled.
    fn can_be_had_again(&self, listing: &Listing, id: Id) -> bool {
        let is_as_it_was = |variable| !self.overwritten.contains(&variable);
        matches!(listing.lines[id.line()].op, Op::Number(_)) || listing.variable_of(id).is_some_and(is_as_it_was)
    }

    /// Returns a register for the outcome of the line, made from `x` in `from`: the same register, if its value is dead
    /// after this.
    fn outcome(&mut self, listing: &Listing, from: Reg, x: Value) -> Reg {
        let is_free = self.free() & bit(from) != 0;
        let is_for_this = x.id.as_kept().is_some() || listing.number(x).is_some();
        match is_free && (is_for_this || self.is_over_after(x)) {
            true => from,
            false => self.new_register(listing),
        }
    }

    /// Copies a value into a register that may be changed, for the outcome of the line.
    fn copy_of(&mut self, listing: &Listing, x: Value) -> Reg {
        let other = self.busy;
        let from = self.register(listing, x);
        // Another operand of the line may be in the same register.
        let to = if other & bit(from) == 0 { self.outcome(listing, from, x) } else { self.new_register(listing) };
        if to != from {
            self.assembler.copy(Type::I64, to, from);
        }
        to
    }

    /// Whether no later line uses a value.
    fn is_over_after(&self, value: Value) -> bool {
        value.id.as_kept().is_none() && self.lifetimes.last[value.id.line()] as usize <= self.line
    }

    /// Returns the registers for values: a bit for each.
    fn free(&self) -> u16 {
        KEPT.iter().skip(self.kept).fold(FREE, |free, reg| free | bit(*reg))
    }

    /// Returns an empty register, spilling a value if need be, and reserves it for the rest of the line.
    fn new_register(&mut self, listing: &Listing) -> Reg {
        let is_empty = |index: &u32| self.held[*index as usize].is_none();
        let allowed = self.free() & !self.busy;
        let each = || (0..16u32).filter(|index| allowed & 1 << index != 0);
        let found = each().find(is_empty).unwrap_or_else(|| {
            // The value with the latest last use, but preferably one that need not be spilled.
            let cost = |index: &u32| {
                let id = self.held[*index as usize].unwrap_or(Id(0));
                let is_cheap = self.on_stack(id).is_some() || self.can_be_had_again(listing, id);
                (is_cheap, self.lifetimes.last[id.line()])
            };
            each().max_by_key(cost).expect("a line needs fewer registers than there are")
        });
        let reg = Reg(found as u8);
        self.empty(listing, reg);
        self.busy |= bit(reg);
        reg
    }

    /// Empties a register, and spills its value if that is needed again.
    fn empty(&mut self, listing: &Listing, reg: Reg) {
        let Some(id) = self.held[reg.index()].take() else { return };
        if !self.can_be_had_again(listing, id) && self.lifetimes.last[id.line()] as usize >= self.line {
            self.write_to_stack(id);
        }
        self.values[id.line()].register = NONE;
    }

    /// Empties a particular register, and reserves it for the rest of the line.
    fn clear(&mut self, listing: &Listing, reg: Reg) {
        self.busy |= bit(reg);
        let Some(id) = self.held[reg.index()] else { return };
        let is_empty = |index: &usize| self.held[*index].is_none();
        match (0..16).filter(|index| self.free() & !self.busy & 1 << index != 0).find(is_empty) {
            Some(other) => {
                let other = Reg(other as u8);
                self.assembler.copy(Type::I64, other, reg);
                self.held[reg.index()] = None;
                self.hold(other, id);
            }
            None => self.empty(listing, reg),
        }
    }

    /// Records that a register holds a value.
    fn hold(&mut self, reg: Reg, id: Id) {
        if let Some(before) = self.held[reg.index()].replace(id).filter(|before| *before != id) {
            self.values[before.line()].register = NONE;
        }
        self.values[id.line()].register = u32::from(reg.0);
    }

    /// Empties the registers of dead values.
    fn let_go(&mut self) {
        for held in &mut self.held {
            if let Some(id) = *held
                && (self.lifetimes.last[id.line()] as usize) < self.line
            {
                *held = None;
                self.values[id.line()].register = NONE;
            }
        }
    }

    /// Returns the stack slot of a value, if it has been spilled.
    fn on_stack(&self, id: Id) -> Option<Place> {
        let Whereabouts { slot, is_on_stack, .. } = self.values[id.line()];
        is_on_stack.then(|| on_stack(slot))
    }

    /// Spills a value that is in a register, unless it is on the stack already.
    fn write_to_stack(&mut self, id: Id) {
        let value = &mut self.values[id.line()];
        if value.is_on_stack {
            return;
        }
        if value.slot == NONE {
            value.slot = self.slots;
            self.slots += 1;
            self.most_slots = self.most_slots.max(self.slots);
        }
        value.is_on_stack = true;
        self.on_stack.push(id);
        self.assembler.store(8, on_stack(value.slot), Reg(value.register as u8));
    }

    /// Takes the registers to hold these values.
    fn become_as(&mut self, held: &Held) {
        for id in self.held.into_iter().flatten() {
            self.values[id.line()].register = NONE;
        }
        self.held = *held;
        for (index, id) in (0..).zip(held) {
            if let Some(id) = id {
                self.values[id.line()].register = index;
            }
        }
    }

    /// Moves live values back into the registers that held them before a branch.
    fn come_back_to(&mut self, listing: &Listing, held: &Held) {
        let is_needed = |writer: &Writer, id: Id| writer.lifetimes.last[id.line()] as usize > writer.line;
        let mut missing = Vec::new();
        for (index, id) in (0..).zip(held) {
            if let Some(id) = id.filter(|id| is_needed(self, *id))
                && self.values[id.line()].register != index
            {
                if self.values[id.line()].register != NONE {
                    self.write_to_stack(id);
                }
                missing.push((Reg(index as u8), id));
            }
        }
        for (reg, id) in missing {
            self.bring(listing, id, reg);
        }
    }
}

/// Returns where a value that is kept for all blocks is.
fn kept(number: usize) -> Result<Reg, Place> {
    KEPT.get(number).copied().ok_or_else(|| on_stack((number - KEPT.len()) as u32))
}

fn on_stack(slot: u32) -> Place {
    Place::at(Reg::RSP, slot as i32 * 8)
}

/// Returns where a variable is: in a register, or in memory.
fn place_of(home: Home) -> Result<Reg, Place> {
    match home {
        Home::Fuel => Ok(FUEL),
        Home::Context(offset) => Err(Place::at(CONTEXT, offset)),
        Home::Register(offset) => Err(Place::at(REGISTERS, offset)),
    }
}

/// Returns the number of whole bytes that a mask keeps, if they are fewer than the type has.
fn whole_bytes(mask: u64, ty: Type) -> Option<u32> {
    match mask {
        0xFF => Some(1),
        0xFFFF => Some(2),
        0xFFFF_FFFF if ty == Type::I64 => Some(4),
        _ => None,
    }
}
