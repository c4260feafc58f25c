//! The text of one instruction, with labels where its operands name addresses.

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::model::{Base, Domain, Field, MemoryId, Target};
use lathe_isa::operand::Location;

use super::number;

/// Returns the text of the instruction at an address. `label` returns the name of an address, if it has one.
pub fn instruction(
    isa: &Isa,
    decoded: &Decoded,
    address: u64,
    label: impl Fn(MemoryId, u64) -> Option<String>,
) -> String {
    let instruction = isa.instruction(decoded.instruction);
    let width = isa.pc.width;
    let next = width.wrap(address.wrapping_add(instruction.encoding.cells.into()));
    let location = Location { pc: address, next, width };
    instruction.syntax.render(|index| {
        let field = isa.field(instruction.operands[index]);
        let bits = decoded.operands[index];
        match (instruction.syntax.glued(), index) {
            (Some(digits), 0) => digits.write(bits),
            _ => operand(isa, field, bits, location, &label),
        }
    })
}

fn operand(
    isa: &Isa,
    field: &Field,
    bits: u64,
    location: Location,
    label: &impl Fn(MemoryId, u64) -> Option<String>,
) -> String {
    let numeric = match &field.domain {
        Domain::Registers(list) => {
            let entry = list.get(bits as usize).and_then(Option::as_ref);
            return entry.map_or(String::new(), |(name, _)| name.clone());
        }
        Domain::Names(list) => {
            let entry = list.iter().find(|(_, value)| *value == bits);
            return entry.map_or(String::new(), |(name, _)| name.clone());
        }
        Domain::Values(values) => {
            let value = values.number(bits).unwrap_or_default();
            return match u64::try_from(value) {
                Ok(value) if !values.signed => plain(isa, value, values.width),
                _ => value.to_string(),
            };
        }
        Domain::Number(numeric) => numeric,
    };
    if let Some((name, _)) = field.spellings.iter().find(|(_, value)| *value == bits) {
        return name.clone();
    }
    let (memory, is_absolute) = match numeric.target {
        Some(Target::Absolute(memory)) => (Some(memory), true),
        Some(_) => (Some(isa.pc.memory), false),
        None => (None, true),
    };
    let label = memory.and_then(|memory| label(memory, field.value(bits, location)));
    match label {
        Some(label) => label,
        None if is_absolute && memory.is_some() => number(isa, bits, field.width),
        // An address in the current page could be written as its offset in the page, but that says less.
        None if matches!(
            numeric.target,
            Some(Target::Relative { number_is_address: true, .. } | Target::Within(Base::Pc | Base::Next))
        ) =>
        {
            number(isa, field.value(bits, location), location.width)
        }
        None if numeric.signed => field.width.signed(bits).to_string(),
        None => plain(isa, bits, field.width),
    }
}

/// Writes a number that is not an address.
fn plain(isa: &Isa, value: u64, width: Width) -> String {
    let is_digit = value < 8 || value < 10 && !isa.assembly.octal_numbers;
    if is_digit { value.to_string() } else { number(isa, value, width) }
}
