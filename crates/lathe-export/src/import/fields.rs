//! Kinds of operands, and the fields that the definition declares for them.

use std::collections::{BTreeMap, BTreeSet};

use super::reading::Type;
use super::value::Distance;

/// Names for numbers of one size, or of the size required where they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The block of rules that it was made from.
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

/// Parts of the names of blocks that hold no registers.
const NOT_REGISTERS: [&str; 9] = ["cond", "flag", "cc", "op", "port", "mode", "csr", "size", "bit"];

/// The widest operand, in bits, that conditions compare bit by bit or with another operand.
pub(super) const MOST_COMPARED: u32 = 6;

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

    /// Whether these look like names of registers.
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

    /// Returns its names in order of their codes, grouped by code.
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

/// Numbers in a list, by their codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) numbers: BTreeMap<u64, i128>,
    /// The width in which -1 and the highest number are the same.
    pub(super) wraps: Option<u32>,
}

impl Listed {
    /// Adds a number. One code may have two numbers that are the same in some width.
    pub(super) fn add(&mut self, code: u64, number: i128) -> Option<()> {
        let known = *self.numbers.entry(code).or_insert(number);
        let (is_short, apart) = (code < lathe_base::limits::LIST as u64, known.abs_diff(number));
        if apart > 0 {
            let width = apart.is_power_of_two().then(|| apart.trailing_zeros())?;
            (*self.wraps.get_or_insert(width) == width).then_some(())?;
        }
        is_short.then_some(())
    }

    fn width(&self) -> u32 {
        self.numbers.keys().next_back().map_or(1, |highest| (64 - highest.leading_zeros()).max(1))
    }
}

/// An operand of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// How many bits it has, including those that are not stored.
    pub(super) width: u32,
    /// The number of lowest bits that are always 0 and not stored.
    pub(super) unstored: u32,
    /// Whether a longer number was cut.
    pub(super) is_cut: bool,
    /// Whether it can be written with or without a sign.
    pub(super) wraps: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Choice(Choice),
    /// A number, with its declared size and signedness.
    Number(Option<u32>, Option<bool>),
    Values(Listed),
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
        Operand { name, kind, width, unstored: 0, is_cut: false, wraps: false }
    }

    pub(super) fn number(name: &str, ty: Type) -> Operand {
        let signed = match ty {
            Type::Signed(_) => Some(true),
            Type::Unsigned(_) | Type::Integer(_) => Some(false),
            Type::Any | Type::Rules(_) => None,
        };
        let wraps = matches!(ty, Type::Integer(_));
        Operand { wraps, ..Operand::new(name, Kind::Number(Operand::size(ty), signed), 0) }
    }

    pub(super) fn choice(name: &str, choice: Choice) -> Operand {
        let width = choice.width();
        Operand::new(name, Kind::Choice(choice), width)
    }

    pub(super) fn values(name: &str, listed: Listed) -> Operand {
        let width = listed.width();
        Operand::new(name, Kind::Values(listed), width)
    }

    pub(super) fn anything(name: &str) -> Operand {
        Operand::new(name, Kind::Anything, 64)
    }

    /// Returns the size that a type gives.
    pub(super) fn size(ty: Type) -> Option<u32> {
        match ty {
            Type::Unsigned(bits) | Type::Signed(bits) | Type::Integer(bits) => Some(bits),
            Type::Any | Type::Rules(_) => None,
        }
    }

    /// Notes which of its bits an encoding holds: each of them once, or none if conditions determine its value.
    pub(super) fn fit(&mut self, mut used: Vec<u32>, distance: Option<Distance>, is_said: bool) -> Result<(), String> {
        if used.is_empty() && is_said {
            if let Kind::Number(size, _) = self.kind {
                self.width = size.unwrap_or(0);
            }
            return Ok(());
        }
        used.sort_unstable();
        let name = &self.name;
        if used.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("`{name}` is in its bits twice"));
        }
        match &self.kind {
            Kind::Choice(_) | Kind::Values(_) => {
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

    /// Restricts it to the values in a range and in a list; false if that cannot be expressed.
    pub(super) fn narrow(&mut self, range: (Option<i128>, Option<i128>), listed: Option<&BTreeSet<i128>>) -> bool {
        let is_in = |value: i128| {
            range.0.is_none_or(|least| value >= least)
                && range.1.is_none_or(|most| value <= most)
                && listed.is_none_or(|listed| listed.contains(&value))
        };
        match &mut self.kind {
            Kind::Choice(choice) => {
                choice.names.retain(|(_, code)| is_in((*code).into()));
                self.width = choice.width();
                !choice.names.is_empty() && !choice.takes_numbers
            }
            Kind::Values(values) => {
                values.numbers.retain(|code, _| is_in((*code).into()));
                self.width = values.width();
                !values.numbers.is_empty()
            }
            Kind::Number(_, declared) => {
                let is_signed = *declared.get_or_insert(range.0.is_some_and(|least| least < 0));
                let (half, unit) = (1i128 << (self.width - 1), 1i128 << self.unstored);
                let (low, high) = if is_signed { (-half, half - unit) } else { (0, 2 * half - unit) };
                let (least, most) = (range.0.unwrap_or(low), range.1.unwrap_or(high));
                // A number that must fit is not cut.
                self.is_cut &= least < low || most > high + unit - 1;
                if least <= low && most >= high && listed.is_none() {
                    return true;
                }
                let mut values = Listed::default();
                let mask = (1u128 << self.width) - 1;
                for number in (least.max(low)..=most.min(high)).filter(|number| is_in(*number)) {
                    if values.add((number as u128 & mask) as u64, number).is_none() {
                        return false;
                    }
                }
                if values.numbers.is_empty() || self.unstored > 0 || self.wraps {
                    return false;
                }
                self.width = values.width();
                (self.kind, self.is_cut) = (Kind::Values(values), false);
                true
            }
            Kind::Anything => false,
        }
    }

    /// Whether a mask includes all its bits.
    pub(super) fn is_whole(&self, mask: i128) -> bool {
        let whole = ((1u128 << self.width.min(64)) - (1 << self.unstored)) as i128;
        mask & whole == whole
    }

    /// Returns those of its codes whose masked bits have this value, if they are few.
    pub(super) fn codes(&self, mask: i128, value: i128) -> Option<Vec<u64>> {
        let is_one = |code: &u64| i128::from(*code) & mask == value & mask;
        let all = ((1u128 << self.width.min(64)) - 1) as i128;
        match &self.kind {
            Kind::Choice(choice) if !choice.takes_numbers => {
                let codes: BTreeSet<u64> = choice.names.iter().map(|(_, code)| *code).filter(is_one).collect();
                Some(codes.into_iter().collect())
            }
            Kind::Values(values) => Some(values.numbers.keys().copied().filter(is_one).collect()),
            _ if self.is_whole(mask) => Some(u64::try_from(value & all).into_iter().collect()),
            _ if self.width <= MOST_COMPARED => Some((0..1 << self.width).filter(is_one).collect()),
            _ => None,
        }
    }

    /// Whether this text can be written for it: a name or a number.
    pub(super) fn takes(&self, written: &str) -> bool {
        let number = written.parse::<i128>().ok();
        match &self.kind {
            Kind::Choice(choice) if choice.names.iter().any(|(name, _)| name == written) => true,
            Kind::Choice(choice) => {
                choice.takes_numbers && number.is_some_and(|number| number >= 0 && number >> self.width.min(64) == 0)
            }
            Kind::Values(values) => number.is_some_and(|number| values.numbers.values().any(|known| *known == number)),
            Kind::Number(_, signed) => number.is_some_and(|number| {
                let half = 1i128 << (self.width.max(1) - 1);
                let (low, high) = if *signed == Some(true) { (-half, half - 1) } else { (0, 2 * half - 1) };
                (low..=high).contains(&number) && number & ((1 << self.unstored) - 1) == 0
            }),
            Kind::Anything => false,
        }
    }

    /// Whether it takes and stores the same values as another.
    pub(super) fn is_like(&self, other: &Operand) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Choice(one), Kind::Choice(other)) => one.names == other.names,
            (Kind::Values(one), Kind::Values(other)) => one.numbers == other.numbers,
            (Kind::Number(..), Kind::Number(..)) => (self.width, self.unstored) == (other.width, other.unstored),
            _ => false,
        }
    }

    /// Returns how one of its codes is written.
    pub(super) fn spelled(&self, code: u64) -> Option<String> {
        match &self.kind {
            Kind::Choice(choice) => {
                let name = choice.names.iter().find(|(_, known)| *known == code).map(|(name, _)| name.clone());
                name.or_else(|| choice.takes_numbers.then(|| code.to_string()))
            }
            Kind::Values(values) => values.numbers.get(&code).map(i128::to_string),
            Kind::Number(_, Some(true)) if (1..64).contains(&self.width) && code >> (self.width - 1) & 1 == 1 => {
                Some((code as i128 - (1i128 << self.width)).to_string())
            }
            Kind::Number(..) => Some(code.to_string()),
            Kind::Anything => None,
        }
    }
}
