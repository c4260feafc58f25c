//! Just enough of an assembler for the benchmark programs: one instruction per line,
//! labels, `.byte`, and `hi(x)`, `lo(x)` for the halves of a byte.

use std::collections::HashMap;

use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Domain, InstructionId};
use lathe_isa::operand::Location;

/// The cells of a program that begins at address 0.
pub(crate) fn assemble(isa: &Isa, text: &str) -> Vec<u64> {
    let mut labels = HashMap::new();
    pass(isa, text, &mut labels);
    pass(isa, text, &mut labels)
}

fn pass(isa: &Isa, text: &str, labels: &mut HashMap<String, u64>) -> Vec<u64> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut line = line.split(';').next().unwrap_or("").trim();
        if let Some((label, rest)) = line.split_once(':') {
            labels.insert(label.trim().to_owned(), out.len() as u64);
            line = rest.trim();
        }
        if line.is_empty() {
            continue;
        }
        let (mnemonic, rest) = line.split_once(' ').unwrap_or((line, ""));
        let operands: Vec<&str> = rest.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
        if mnemonic == ".byte" {
            out.extend(operands.iter().map(|operand| value(operand, labels) & 0xFF));
        } else {
            out.extend(instruction(isa, mnemonic, &operands, out.len() as u64, labels));
        }
    }
    out
}

fn instruction(isa: &Isa, mnemonic: &str, operands: &[&str], pc: u64, labels: &HashMap<String, u64>) -> Vec<u64> {
    let ids = (0..isa.instructions.len() as u32).map(InstructionId);
    let mut fitting = ids.filter(|id| isa.instruction(*id).syntax.mnemonic() == mnemonic);
    let found = fitting.find_map(|id| encode(isa, id, operands, pc, labels));
    found.unwrap_or_else(|| panic!("{}: no row for `{mnemonic} {}`", isa.name, operands.join(", ")))
}

fn encode(isa: &Isa, id: InstructionId, operands: &[&str], pc: u64, labels: &HashMap<String, u64>) -> Option<Vec<u64>> {
    let instruction = isa.instruction(id);
    let encoding = &instruction.encoding;
    if instruction.operands.len() != operands.len() {
        return None;
    }
    let next = isa.pc.width.wrap(pc + u64::from(encoding.cells));
    let location = Location { pc, next, width: isa.pc.width };
    let bits = instruction.operands.iter().zip(operands).map(|(field, operand)| {
        let field = isa.field(*field);
        match &field.domain {
            Domain::Number(_) if isa.place_named(operand).is_some() => None,
            Domain::Number(_) if labels.contains_key(*operand) => {
                field.bits_for_address(value(operand, labels), location).or(Some(0))
            }
            Domain::Number(_) => field.bits_of(i128::from(value(operand, labels)), location).or(Some(0)),
            _ => field.bits_named(operand.trim_matches(['[', ']'])),
        }
    });
    let bits: Vec<u64> = bits.collect::<Option<_>>()?;
    let window = encoding.encode(&bits);
    encoding.matches(window).then(|| cells(window, isa.code_memory().cell).take(encoding.cells as usize).collect())
}

/// A number, a label (0 while it is not known), or a half of one.
fn value(text: &str, labels: &HashMap<String, u64>) -> u64 {
    if let Some(inner) = text.strip_prefix("hi(").and_then(|text| text.strip_suffix(')')) {
        return value(inner, labels) >> 4 & 15;
    }
    if let Some(inner) = text.strip_prefix("lo(").and_then(|text| text.strip_suffix(')')) {
        return value(inner, labels) & 15;
    }
    if let Some((x, y)) = text.split_once('^') {
        return value(x, labels) ^ value(y, labels);
    }
    let hexadecimal = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    hexadecimal.or_else(|| text.parse().ok()).or_else(|| labels.get(text).copied()).unwrap_or(0)
}
