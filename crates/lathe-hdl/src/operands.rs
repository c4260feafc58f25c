//! The operands of all rows: the bits of the window that each is made of. Rows that have the same operand in the same
//! place share it.

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::encoding::Segment;
use lathe_isa::model::{Base, Domain, FieldId, Instruction, InstructionId, Numeric, Place, RegisterId, Target};
use lathe_isa::semantics::{Body, ExprKind, OperandId};

use crate::body::for_each_expression;
use crate::expression::{extend, number, range, select, sign_extend};
use crate::names::Names;
use crate::shape::{self, Shape};
use crate::writer::Writer;

/// An operand of one or more rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) field: FieldId,
    /// The name of its value.
    pub(crate) name: String,
    /// Its bits: a name, or a number where the row leaves no choice.
    pub(crate) code: String,
    bits: Bits,
    /// Whether anything reads its value.
    is_read: bool,
    /// Whether anything reads its value or its bits.
    is_used: bool,
}

/// Where the bits of an operand come from, and what else its value depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits {
    text: String,
    is_constant: bool,
    /// The number of cells of the instruction, if the value is a distance from its end.
    from_end: Option<u32>,
}

/// The operands of a machine.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    all: Vec<Operand>,
    /// For each instruction, the places of its operands in the list, in order.
    places: Vec<Vec<usize>>,
}

impl Operands {
    pub(crate) fn new(isa: &Isa, names: &mut Names) -> Operands {
        let mut operands = Operands::default();
        for instruction in &isa.instructions {
            let effects = instruction.body.effects();
            let mut places = Vec::new();
            for (at, field) in instruction.operands.iter().enumerate() {
                let place = operands.place(isa, names, instruction, at, *field);
                let id = OperandId(at as u8);
                let operand = &mut operands.all[place];
                let is_read = effects.operands_read.contains(&id);
                operand.is_read |= is_read;
                operand.is_used |=
                    is_read || effects.operands_written.contains(&id) || uses_code(&instruction.body, id);
                places.push(place);
            }
            operands.places.push(places);
        }
        operands
    }

    /// Returns the place of an operand in the list, and adds the operand if it is new.
    fn place(&mut self, isa: &Isa, names: &mut Names, row: &Instruction, at: usize, field: FieldId) -> usize {
        let described = isa.field(field);
        let width = described.width.bits();
        let bits = Bits {
            text: match &row.encoding.operands[at][..] {
                [] => number(width, row.encoding.constants[at]),
                segments => window_bits(isa, segments, width),
            },
            is_constant: row.encoding.operands[at].is_empty(),
            from_end: matches!(base_of(&described.domain), Some(Base::Next)).then_some(row.encoding.cells),
        };
        if let Some(known) = self.all.iter().position(|known| known.field == field && known.bits == bits) {
            return known;
        }
        let base = names.field(field).to_owned();
        let before = self.all.iter().filter(|known| known.field == field).count();
        let name = if before == 0 { base } else { names.fresh(&format!("{base}_{}", before + 1)) };
        let code = match &described.domain {
            Domain::Registers(_) if bits.is_constant => bits.text.clone(),
            domain if matches!(domain, Domain::Registers(_)) || base_of(domain).is_some() => format!("{name}_code"),
            _ => name.clone(),
        };
        self.all.push(Operand { field, name, code, bits, is_read: false, is_used: false });
        self.all.len() - 1
    }

    /// Returns the operands of an instruction, in order.
    pub(crate) fn of(&self, instruction: InstructionId) -> Vec<Operand> {
        self.places[instruction.index()].iter().map(|place| self.all[*place].clone()).collect()
    }

    /// Writes the bits of all operands, and all values that are computed from them alone.
    pub(crate) fn write(&self, isa: &Isa, shape: &Shape, out: &mut Writer) {
        for operand in self.all.iter().filter(|operand| operand.is_used) {
            let described = isa.field(operand.field);
            let (bits, value_bits) = (described.width.bits(), described.value_width(isa.pc.width).bits());
            if operand.code != operand.name && operand.code != operand.bits.text {
                out.line(format!("wire {}{} = {};", range(bits), operand.code, operand.bits.text));
            }
            let value = match &described.domain {
                Domain::Registers(_) if !operand.is_read => continue,
                Domain::Registers(_) => {
                    out.line(format!("reg {}{};", range(value_bits), operand.name));
                    continue;
                }
                Domain::Number(numeric) if operand.code != operand.name => target(isa, shape, *numeric, operand),
                _ => operand.bits.text.clone(),
            };
            out.line(format!("wire {}{} = {value};", range(value_bits), operand.name));
        }
    }

    /// Writes the values of operands that name registers, read before anything is written.
    pub(crate) fn read(&self, isa: &Isa, shape: &Shape, out: &mut Writer) {
        for operand in self.all.iter().filter(|operand| operand.is_read) {
            if let Domain::Registers(_) = isa.field(operand.field).domain {
                let list = shape.names.field(shape::register_list(isa, operand.field));
                out.line(format!("read_{list}({}, {});", operand.code, operand.name));
            }
        }
    }
}

/// Returns the registers that an operand may name, wholly or in part.
pub(crate) fn registers(isa: &Isa, field: FieldId) -> impl Iterator<Item = RegisterId> + '_ {
    let list = match &isa.field(field).domain {
        Domain::Registers(list) => list.as_slice(),
        _ => &[],
    };
    let places = list.iter().flatten().map(|(_, place): &(String, Place)| place);
    places.flat_map(|place| &place.parts).map(|part| part.register)
}

/// Returns the base to which the address of an operand is relative.
fn base_of(domain: &Domain) -> Option<Base> {
    match domain {
        Domain::Number(Numeric { target: Some(Target::Relative { from, .. } | Target::Within(from)), .. }) => {
            Some(*from)
        }
        _ => None,
    }
}

/// Whether a body reads the bits of an operand.
fn uses_code(body: &Body, operand: OperandId) -> bool {
    let mut uses = false;
    for_each_expression(body, &mut |expr| {
        expr.visit(&mut |expr| uses |= expr.kind == ExprKind::Code(operand));
    });
    uses
}

/// Returns the bits of an operand from its place in the encoding.
fn window_bits(isa: &Isa, segments: &[Segment], bits: u32) -> String {
    let window = Shape::window_bits(isa);
    let mut segments = segments.to_vec();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.low));
    let mut parts = Vec::new();
    let mut above = bits;
    for segment in &segments {
        let top = segment.low + segment.width.bits();
        if top < above {
            parts.push(number(above - top, 0));
        }
        parts.push(select("window", window, segment.shift - (128 - window), segment.width.bits()));
        above = segment.low;
    }
    if above > 0 {
        parts.push(number(above, 0));
    }
    if parts.len() == 1 { parts.remove(0) } else { format!("{{{}}}", parts.join(", ")) }
}

/// Returns the address that an operand means, from its bits.
fn target(isa: &Isa, shape: &Shape, numeric: Numeric, operand: &Operand) -> String {
    let (pc, bits, code) = (isa.pc.width, isa.field(operand.field).width.bits(), operand.code.as_str());
    let ahead = |cells: u32| format!("({} + {})", shape.names.pc, number(pc.bits(), pc.wrap(u64::from(cells))));
    let base = |base: Base| match base {
        Base::Pc => shape.names.pc.clone(),
        Base::Next => ahead(operand.bits.from_end.unwrap_or_default()),
        Base::Ahead(cells) => ahead(cells),
        Base::Address(address) => number(pc.bits(), pc.wrap(address)),
    };
    match numeric.target {
        None | Some(Target::Absolute(_)) => code.to_owned(),
        Some(Target::Relative { back, from, .. }) => {
            let distance = match bits.cmp(&pc.bits()) {
                std::cmp::Ordering::Greater => select(code, bits, 0, pc.bits()),
                _ if numeric.signed => sign_extend(code, bits, pc.bits()),
                _ => extend(code, bits, pc.bits()),
            };
            format!("{} {} {distance}", base(from), if back { "-" } else { "+" })
        }
        Some(Target::Within(_)) if bits >= pc.bits() => select(code, bits, 0, pc.bits()),
        Some(Target::Within(Base::Address(address))) => {
            let page = Width::new(u64::from(pc.bits() - bits)).map_or(0, |width| width.wrap(address >> bits));
            format!("{{{}, {code}}}", number(pc.bits() - bits, page))
        }
        Some(Target::Within(Base::Pc)) => {
            format!("{{{}, {code}}}", select(&shape.names.pc, pc.bits(), bits, pc.bits() - bits))
        }
        Some(Target::Within(from)) => {
            let page = number(pc.bits(), pc.mask() >> bits << bits);
            format!("({} & {page}) | {}", base(from), extend(code, bits, pc.bits()))
        }
    }
}
