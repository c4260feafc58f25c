//! Meanings as statements of SLEIGH, which become p-code.
//!
//! A value is kept in the next 1, 2, 4 or 8 bytes, with zeros above it. Every operation gets a variable of its own, so
//! that sizes are always explicit.

use std::fmt::Write as _;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{DeviceOperation, Instruction, MemoryId, Order, Part, Place};
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_isa::semantics::{Block, Expr, ExprKind, Statement};

use super::{Operand, is_big, name, register_name};

/// Returns how many bytes hold a value of this width.
pub(super) fn size(width: Width) -> u32 {
    width.bits().div_ceil(8).next_power_of_two()
}

/// Returns the statements of an instruction with these operands.
pub(super) fn statements(isa: &Isa, instruction: &Instruction, operands: &[Operand]) -> String {
    let mut code = Code::new(isa, Some(instruction), operands);
    let body = instruction.body.cell_by_cell(isa, &|memory, cells| !is_one_access(isa, memory, cells));
    for (index, width) in body.locals.iter().enumerate() {
        code.line(&format!("local x_{index}:{} = 0;", size(*width)));
    }
    code.goes_late = !jumps_last(&body.block);
    if code.goes_late && mentions_jump(&body.block) {
        let next = code.address_of(isa.pc.width, "inst_next");
        code.line(&format!("local target:{} = {next};", size(isa.pc.width)));
    }
    code.block(&body.block);
    if code.goes_late && mentions_jump(&body.block) {
        code.line("goto [target];");
    }
    code.text
}

/// Whether SLEIGH can access this many cells at once, and in their order.
fn is_one_access(isa: &Isa, memory: MemoryId, cells: u8) -> bool {
    let memory = isa.memory(memory);
    let is_whole = |width: Width| width.bits() == size(width) * 8;
    // The cell after the last is the first only if SLEIGH's memory has as many cells.
    let same_cells = is_whole(memory.cell) && is_whole(memory.address);
    same_cells && cells.is_power_of_two() && (memory.order == Order::Big) == is_big(isa)
}

/// Returns what the table of an operand exports for a place: the register itself if possible, so that it can be
/// written; otherwise its value.
pub(super) fn exported(isa: &Isa, place: &Place) -> String {
    if let Some(register) = isa.whole_register(place) {
        return format!("export {};", register_name(isa, register));
    }
    let mut code = Code::new(isa, None, &[]);
    let value = code.place(place);
    format!("{} export {value};", code.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether every jump is the last action on its path.
fn jumps_last(block: &Block) -> bool {
    let Some((last, before)) = block.split_last() else { return true };
    let last = match last {
        Statement::If { then, otherwise, .. } => jumps_last(then) && jumps_last(otherwise),
        _ => true,
    };
    last && !before.iter().any(is_jump)
}

fn mentions_jump(block: &Block) -> bool {
    block.iter().any(is_jump)
}

fn is_jump(statement: &Statement) -> bool {
    match statement {
        Statement::Jump(_) => true,
        Statement::If { then, otherwise, .. } => mentions_jump(then) || mentions_jump(otherwise),
        _ => false,
    }
}

struct Code<'i> {
    isa: &'i Isa,
    /// The instruction, if the code belongs to one.
    instruction: Option<&'i Instruction>,
    operands: &'i [Operand],
    text: String,
    variables: u32,
    labels: u32,
    /// Whether jumps wait until everything else is done.
    goes_late: bool,
}

impl<'i> Code<'i> {
    fn new(isa: &'i Isa, instruction: Option<&'i Instruction>, operands: &'i [Operand]) -> Self {
        Code { isa, instruction, operands, text: String::new(), variables: 0, labels: 0, goes_late: false }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    /// Adds a variable with this value.
    fn variable(&mut self, bytes: u32, value: &str) -> String {
        let name = format!("t_{}", self.variables);
        self.variables += 1;
        self.line(&format!("local {name}:{bytes} = {value};"));
        name
    }

    /// Adds a variable with the low `width` bits of this value.
    fn masked(&mut self, width: Width, value: &str) -> String {
        let name = self.variable(size(width), value);
        if width.bits() != size(width) * 8 {
            self.line(&format!("{name} = {name} & {:#x};", width.mask()));
        }
        name
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("<to_{}>", self.labels)
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let(local, value) => {
                let value = self.value(value);
                self.line(&format!("x_{} = {value};", local.0));
            }
            Statement::SetRegister(register, value) => {
                let value = self.value(value);
                self.line(&format!("{} = {value};", register_name(self.isa, *register)));
            }
            Statement::SetOperand(operand, value) => {
                let value = self.value(value);
                match &self.operands[usize::from(operand.0)] {
                    Operand::Spread(_, place, _) => self.set_place(&place.clone(), &value),
                    Operand::Table(name, _) | Operand::Number(name) | Operand::Address(name) => {
                        let line = format!("{name} = {value};");
                        self.line(&line);
                    }
                }
            }
            Statement::Load { into, memory, address, cells } => {
                let address = self.value(address);
                let memory = self.isa.memory(*memory);
                let bytes = size(memory.cell) * u32::from(*cells);
                self.line(&format!("x_{} = *[{}]:{bytes} {address};", into.0, name(&memory.name)));
            }
            Statement::Store { memory, address, cells, value } => {
                let (address, value) = (self.value(address), self.value(value));
                let memory = self.isa.memory(*memory);
                let bytes = size(memory.cell) * u32::from(*cells);
                self.line(&format!("*[{}]:{bytes} {address} = {value};", name(&memory.name)));
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let call = self.call(device.index(), *operation, arguments);
                self.line(&format!("x_{} = {call};", into.0));
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let call = self.call(device.index(), *operation, arguments);
                self.line(&format!("{call};"));
            }
            Statement::Jump(target) => self.jump(target),
            Statement::Halt => {
                self.line("halt();");
                self.line("goto inst_start;");
            }
            Statement::Fault { .. } => {
                self.line("fault();");
                self.line("goto inst_start;");
            }
            Statement::Cycles(_) => {}
            Statement::If { condition, then, otherwise } => self.choice(condition, then, otherwise),
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let condition = self.value(condition);
        let (other, end) = (self.label(), self.label());
        self.line(&format!("if ({condition} == 0) goto {other};"));
        self.block(then);
        if otherwise.is_empty() {
            return self.line(&other);
        }
        self.line(&format!("goto {end};"));
        self.line(&other);
        self.block(otherwise);
        self.line(&end);
    }

    fn call(&mut self, device: usize, operation: DeviceOperation, arguments: &[Expr]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| self.value(argument)).collect();
        format!("{}_{}({})", self.isa.devices[device].name, operation.name(), arguments.join(", "))
    }

    fn jump(&mut self, target: &Expr) {
        let fixed = match target.kind {
            ExprKind::Operand(operand) if !self.goes_late => self.code_address(usize::from(operand.0)),
            _ => None,
        };
        let is_fixed = fixed.is_some();
        let target = fixed.unwrap_or_else(|| self.value(target));
        let stores_next = self.instruction.is_some_and(|instruction| instruction.body.block.iter().any(keeps_next));
        match (self.goes_late, is_fixed, stores_next) {
            (true, ..) => self.line(&format!("target = {target};")),
            (_, true, true) => self.line(&format!("call {target};")),
            (_, true, false) => self.line(&format!("goto {target};")),
            (_, false, true) => self.line(&format!("call [{target}];")),
            (_, false, false) => self.line(&format!("goto [{target}];")),
        }
    }

    /// Returns the operand that a jump goes to, if it is known as an address of code.
    fn code_address(&self, index: usize) -> Option<String> {
        match &self.operands[index] {
            Operand::Address(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// Returns the variable or number that holds the value of an expression.
    fn value(&mut self, expr: &Expr) -> String {
        let (width, bytes) = (expr.width, size(expr.width));
        match &expr.kind {
            ExprKind::Constant(value) => format!("{value:#x}:{bytes}"),
            ExprKind::Local(local) => format!("x_{}", local.0),
            ExprKind::Register(register) => match self.isa.register(*register) {
                known if known.constant => format!("{:#x}:{bytes}", known.reset),
                _ => register_name(self.isa, *register),
            },
            ExprKind::Operand(operand) => match &self.operands[usize::from(operand.0)] {
                Operand::Table(name, _) => name.clone(),
                Operand::Number(name) => {
                    let name = name.clone();
                    self.masked(width, &name)
                }
                Operand::Address(name) => {
                    let address = format!("&{name}");
                    self.address_of(width, &address)
                }
                Operand::Spread(_, place, _) => self.place(&place.clone()),
            },
            ExprKind::Code(operand) => match &self.operands[usize::from(operand.0)] {
                Operand::Table(_, code) => {
                    let code = code.clone().unwrap_or_default();
                    self.masked(width, &code)
                }
                // A number's bits are the number; the code of a chosen register is known.
                Operand::Number(name) | Operand::Address(name) => {
                    let name = name.clone();
                    self.masked(width, &name)
                }
                Operand::Spread(_, _, code) => format!("{code:#x}:{bytes}"),
            },
            ExprKind::Pc => self.address_of(width, "inst_start"),
            ExprKind::Next => self.address_of(width, "inst_next"),
            ExprKind::Unary(operator, x) => {
                let x = self.value(x);
                match operator {
                    UnaryOperator::Not => self.masked(width, &format!("~{x}")),
                    UnaryOperator::Negate => self.masked(width, &format!("-{x}")),
                }
            }
            ExprKind::Binary(operator, x, y) => self.binary(*operator, x, y),
            ExprKind::Slice(x, low) => {
                let (from, x) = (size(x.width), self.value(x));
                let shifted =
                    if *low == 0 { self.variable(from, &x) } else { self.variable(from, &format!("{x} >> {low}")) };
                let cut = if from == bytes { shifted } else { format!("{shifted}:{bytes}") };
                self.masked(width, &cut)
            }
            ExprKind::Join(high, low) => {
                let (high_value, low_value) = (self.extended(high, bytes), self.extended(low, bytes));
                self.variable(bytes, &format!("({high_value} << {}) | {low_value}", low.width.bits()))
            }
            ExprKind::ZeroExtend(x) => self.extended(x, bytes),
            ExprKind::SignExtend(x) => {
                let signed = self.signed(x);
                let wide = if size(x.width) == bytes { signed } else { format!("sext({signed})") };
                self.masked(width, &wide)
            }
            ExprKind::Choose(condition, x, y) => {
                let (condition, x, y) = (self.value(condition), self.value(x), self.value(y));
                let chosen = self.variable(bytes, &y);
                let end = self.label();
                self.line(&format!("if ({condition} == 0) goto {end};"));
                self.line(&format!("{chosen} = {x};"));
                self.line(&end);
                chosen
            }
        }
    }

    /// Returns an address of code in cells: p-code counts bytes.
    fn address_of(&mut self, width: Width, address: &str) -> String {
        let unit = size(self.isa.code_memory().cell);
        if unit == 1 {
            return self.masked(width, address);
        }
        let bytes = self.variable(8, address);
        let cells = self.variable(8, &format!("{bytes} >> {}", unit.ilog2()));
        self.masked(width, &format!("{cells}:{}", size(width)))
    }

    /// Zero-extends a value to this many bytes.
    fn extended(&mut self, x: &Expr, bytes: u32) -> String {
        let value = self.value(x);
        if size(x.width) == bytes { value } else { self.variable(bytes, &format!("zext({value})")) }
    }

    /// Sign-extends a value within its bytes.
    fn signed(&mut self, x: &Expr) -> String {
        let (bytes, value) = (size(x.width), self.value(x));
        match bytes * 8 - x.width.bits() {
            0 => value,
            spare => {
                let raised = self.variable(bytes, &format!("{value} << {spare}"));
                self.variable(bytes, &format!("{raised} s>> {spare}"))
            }
        }
    }

    fn binary(&mut self, operator: BinaryOperator, x: &Expr, y: &Expr) -> String {
        use BinaryOperator::*;
        let width = x.width;
        let is_signed =
            matches!(operator, DivideSigned | RemainderSigned | ShiftRightSigned | LessSigned | LessOrEqualSigned);
        let left = if is_signed { self.signed(x) } else { self.value(x) };
        let right = if is_signed && operator != ShiftRightSigned { self.signed(y) } else { self.value(y) };
        let symbol = match operator {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            And => "&",
            Or => "|",
            Xor => "^",
            ShiftLeft => "<<",
            ShiftRight => ">>",
            ShiftRightSigned => "s>>",
            Equal => "==",
            Unequal => "!=",
            Less => "<",
            LessOrEqual => "<=",
            LessSigned => "s<",
            LessOrEqualSigned => "s<=",
            Divide | DivideSigned | Remainder | RemainderSigned => return self.divide(operator, width, &left, &right),
            RotateLeft | RotateRight => return self.rotate(operator, width, &left, y, &right),
        };
        if operator.is_comparison() {
            return self.variable(1, &format!("{left} {symbol} {right}"));
        }
        self.masked(width, &format!("{left} {symbol} {right}"))
    }

    /// Divides. Division is total here: by zero it gives all ones, and the dividend as the remainder.
    fn divide(&mut self, operator: BinaryOperator, width: Width, x: &str, y: &str) -> String {
        use BinaryOperator::*;
        let (symbol, by_zero) = match operator {
            Divide => ("/", format!("{:#x}", width.mask())),
            DivideSigned => ("s/", format!("{:#x}", width.mask())),
            Remainder => ("%", x.to_owned()),
            _ => ("s%", x.to_owned()),
        };
        let result = self.variable(size(width), &by_zero);
        let end = self.label();
        self.line(&format!("if ({y} == 0) goto {end};"));
        self.line(&format!("{result} = {x} {symbol} {y};"));
        self.line(&end);
        self.masked(width, &result)
    }

    fn rotate(&mut self, operator: BinaryOperator, width: Width, x: &str, count: &Expr, by: &str) -> String {
        let (bits, bytes) = (width.bits(), size(count.width));
        // A count too narrow to hold the number of bits is smaller than it.
        let by = match count.width.holds(u64::from(bits)) {
            true => self.variable(bytes, &format!("{by} % {bits}")),
            false => by.to_owned(),
        };
        let by = if bytes == 1 { self.variable(2, &format!("zext({by})")) } else { by };
        let bytes = bytes.max(2);
        let rest = self.variable(bytes, &format!("{bits} - {by}"));
        let (left, right) = if operator == BinaryOperator::RotateLeft { (by, rest) } else { (rest, by) };
        self.masked(width, &format!("({x} << {left}) | ({x} >> {right})"))
    }

    /// Returns the value of a place.
    fn place(&mut self, place: &Place) -> String {
        let bytes = size(place.width);
        let mut value: Option<String> = None;
        for part in &place.parts {
            let bits = self.part(part, bytes);
            value = Some(match value {
                None => bits,
                Some(high) => self.variable(bytes, &format!("({high} << {}) | {bits}", part.width.bits())),
            });
        }
        value.unwrap_or_else(|| format!("0:{bytes}"))
    }

    /// Returns some bits of a register, in this many bytes.
    fn part(&mut self, part: &Part, bytes: u32) -> String {
        let register = self.isa.register(part.register);
        let own = size(register.width);
        let whole = match register.constant {
            true => self.variable(own, &format!("{:#x}", register.reset)),
            false => register_name(self.isa, part.register),
        };
        let shifted = self.variable(own, &format!("({whole} >> {}) & {:#x}", part.low, part.width.mask()));
        match own.cmp(&bytes) {
            std::cmp::Ordering::Equal => shifted,
            std::cmp::Ordering::Less => self.variable(bytes, &format!("zext({shifted})")),
            std::cmp::Ordering::Greater => self.variable(bytes, &format!("{shifted}:{bytes}")),
        }
    }

    fn set_place(&mut self, place: &Place, value: &str) {
        let bytes = size(place.width);
        let mut above = place.width.bits();
        for part in &place.parts {
            above -= part.width.bits();
            let register = self.isa.register(part.register);
            if register.constant {
                continue;
            }
            let (own, name) = (size(register.width), register_name(self.isa, part.register));
            let bits = self.variable(bytes, &format!("({value} >> {above}) & {:#x}", part.width.mask()));
            let bits = match own.cmp(&bytes) {
                std::cmp::Ordering::Equal => bits,
                std::cmp::Ordering::Less => self.variable(own, &format!("{bits}:{own}")),
                std::cmp::Ordering::Greater => self.variable(own, &format!("zext({bits})")),
            };
            let kept = register.width.mask() & !(part.width.mask() << part.low);
            let line = match place.clearing || kept == 0 {
                true => format!("{name} = {bits} << {};", part.low),
                false => format!("{name} = ({name} & {kept:#x}) | ({bits} << {});", part.low),
            };
            self.line(&line);
        }
    }
}

/// Whether a statement keeps the address of the next instruction, as a call does.
fn keeps_next(statement: &Statement) -> bool {
    let has_next = |value: &Expr| {
        let mut found = false;
        value.visit(&mut |part| found |= part.kind == ExprKind::Next);
        found
    };
    match statement {
        Statement::SetRegister(_, value) | Statement::SetOperand(_, value) | Statement::Store { value, .. } => {
            has_next(value)
        }
        _ => false,
    }
}
