//! Kinds of operands, and the fields that the definition declares for them.

use super::reading::Type;
use super::value::Distance;

/// Names for numbers of one size, or of whatever size they are given where they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The block of rules that it was.
    pub(super) block: String,
    pub(super) names: Vec<(String, u64)>,
    pub(super) size: Option<u32>,
    /// Whether a number can be written instead.
    pub(super) takes_numbers: bool,
}

/// Words of the language, which cannot be names.
const WORDS: [&str; 16] = [
    "next", "let", "if", "else", "for", "in", "skip", "halt", "fault", "cycles", "signed", "unsigned", "zext", "sext",
    "rotl", "rotr",
];

/// Parts of names of blocks that do not hold registers.
const NOT_REGISTERS: [&str; 9] = ["cond", "flag", "cc", "op", "port", "mode", "csr", "size", "bit"];

impl Choice {
    /// Whether its names, with a prefix, can be declared.
    pub(super) fn has_names_for(&self, prefix: &str) -> bool {
        self.names.iter().all(|(name, _)| {
            let name = format!("{prefix}{name}");
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && !WORDS.contains(&name.as_str())
        })
    }

    pub(super) fn with_prefix(&self, prefix: &str) -> Choice {
        let names = self.names.iter().map(|(name, code)| (format!("{prefix}{name}"), *code)).collect();
        Choice { names, ..self.clone() }
    }

    /// Whether it looks as if it named registers.
    pub(super) fn is_registers(&self) -> bool {
        let block = self.block.to_lowercase();
        let is_short = |name: &str| name.len() <= 4;
        let looks = block.contains("reg")
            || self.names.iter().all(|(name, _)| is_short(name))
                && !NOT_REGISTERS.iter().any(|part| block.contains(part));
        looks && !self.takes_numbers && self.names.iter().all(|(_, code)| *code < 256)
    }

    fn width(&self) -> u32 {
        let highest = self.names.iter().map(|(_, code)| *code).max().unwrap_or(0);
        let shortest = (64 - highest.leading_zeros()).max(1);
        if self.takes_numbers { self.size.unwrap_or(shortest) } else { shortest }
    }

    /// Its names in the order of their codes, those of one code together.
    pub(super) fn by_code(&self) -> Vec<(u64, Vec<&str>)> {
        let mut codes: Vec<(u64, Vec<&str>)> = Vec::new();
        for (name, code) in &self.names {
            match codes.iter_mut().find(|(known, _)| known == code) {
                Some((_, names)) if names.contains(&name.as_str()) => {}
                Some((_, names)) => names.push(name),
                None => codes.push((*code, vec![name])),
            }
        }
        codes.sort_by_key(|(code, _)| *code);
        codes
    }
}

/// An operand of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// How many bits it has, those that are not stored included.
    pub(super) width: u32,
    /// Lowest bits that are always 0 and not stored.
    pub(super) unstored: u32,
    /// Whether a longer number was cut.
    pub(super) is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Choice(Choice),
    /// A number, with what it was declared as: a size, and whether it is signed.
    Number(Option<u32>, Option<bool>),
    /// A parameter of an `asm` block.
    Anything,
}

impl Operand {
    fn new(name: &str, kind: Kind, width: u32) -> Operand {
        let mut name: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>().to_uppercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert(0, 'X');
        }
        Operand { name, kind, width, unstored: 0, is_cut: false }
    }

    pub(super) fn number(name: &str, ty: Type) -> Operand {
        let signed = match ty {
            Type::Signed(_) => Some(true),
            Type::Unsigned(_) | Type::Integer(_) => Some(false),
            Type::Any | Type::Rules(_) => None,
        };
        Operand::new(name, Kind::Number(Operand::size(ty), signed), 0)
    }

    pub(super) fn choice(name: &str, choice: Choice) -> Operand {
        let width = choice.width();
        Operand::new(name, Kind::Choice(choice), width)
    }

    pub(super) fn anything(name: &str) -> Operand {
        Operand::new(name, Kind::Anything, 64)
    }

    /// The size that a type gives.
    pub(super) fn size(ty: Type) -> Option<u32> {
        match ty {
            Type::Unsigned(bits) | Type::Signed(bits) | Type::Integer(bits) => Some(bits),
            Type::Any | Type::Rules(_) => None,
        }
    }

    /// Learns which of its bits an encoding holds: each of them once.
    pub(super) fn fit(&mut self, mut used: Vec<u32>, distance: Option<Distance>) -> Result<(), String> {
        used.sort_unstable();
        let name = &self.name;
        if used.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("`{name}` is in its bits twice"));
        }
        match &self.kind {
            Kind::Choice(_) => {
                used.retain(|bit| *bit < self.width);
                if used.len() != self.width as usize {
                    return Err(format!("not all bits of `{name}` are in it"));
                }
            }
            Kind::Number(size, _) => {
                let (Some(first), Some(last)) = (used.first(), used.last()) else {
                    return Err(format!("`{name}` is not in its bits"));
                };
                if (last - first) as usize + 1 != used.len() || *last >= 64 {
                    return Err(format!("not all bits of `{name}` are in it"));
                }
                (self.width, self.unstored) = (last + 1, *first);
                self.is_cut = distance.is_none() && size.is_none_or(|size| size > self.width);
            }
            Kind::Anything => {}
        }
        Ok(())
    }

    /// Whether it takes and stores what another does.
    pub(super) fn is_like(&self, other: &Operand) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Choice(one), Kind::Choice(other)) => one.names == other.names,
            (Kind::Number(..), Kind::Number(..)) => (self.width, self.unstored) == (other.width, other.unstored),
            _ => false,
        }
    }

    /// How a code of it is written.
    pub(super) fn spelled(&self, code: u64) -> Option<String> {
        match &self.kind {
            Kind::Choice(choice) => {
                let name = choice.names.iter().find(|(_, known)| *known == code).map(|(name, _)| name.clone());
                name.or_else(|| choice.takes_numbers.then(|| code.to_string()))
            }
            Kind::Number(_, Some(true)) if self.width < 64 && code >> (self.width - 1) & 1 == 1 => {
                Some((code as i128 - (1i128 << self.width)).to_string())
            }
            Kind::Number(..) => Some(code.to_string()),
            Kind::Anything => None,
        }
    }
}
