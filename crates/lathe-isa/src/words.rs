//! Operands made of words, each of which stands for bits: `cla cll iac`, in any order. Not here: their declaration, and
//! how a line is split into words.

use crate::model::{Field, Word};

/// Why words cannot be combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clash {
    /// There are no words.
    Empty,
    /// The field has no such word.
    Unknown(String),
    /// The two exclude each other.
    Exclude(String, String),
    /// Its bits are already those of the others, or it has none.
    AddsNothing(String),
}

impl Word {
    /// Whether these bits include the word.
    pub fn is_in(&self, bits: u64) -> bool {
        bits & self.mask == self.bits
    }

    fn excludes(&self, other: &Word) -> bool {
        self.group == other.group && self.alternative != other.alternative
    }
}

/// Returns what Lathe writes for bits: the first words that express them, in the order of declaration; none if no words
/// do.
pub fn written(words: &[Word], bits: u64) -> Option<String> {
    if bits == 0 {
        return words.iter().find(|word| word.bits == 0).map(|word| word.name.clone());
    }
    let (mut said, mut names) = (0, Vec::new());
    for word in words.iter().filter(|word| word.is_in(bits)) {
        if word.bits & !said != 0 {
            said |= word.bits;
            names.push(word.name.as_str());
        }
    }
    (said == bits).then(|| names.join(" "))
}

impl Field {
    /// Whether the operand is several words in any order.
    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Returns the word with this name, in either case.
    pub fn word(&self, name: &str) -> Option<&Word> {
        self.words.iter().find(|word| word.name.eq_ignore_ascii_case(name))
    }

    /// Returns the bits of these words together.
    pub fn together<S: AsRef<str>>(&self, names: &[S]) -> Result<u64, Clash> {
        let mut words: Vec<&Word> = Vec::new();
        for name in names {
            let word = self.word(name.as_ref()).ok_or_else(|| Clash::Unknown(name.as_ref().to_owned()))?;
            if let Some(other) = words.iter().find(|other| other.excludes(word)) {
                return Err(Clash::Exclude(other.name.clone(), word.name.clone()));
            }
            words.push(word);
        }
        for (at, word) in words.iter().enumerate() {
            let others = words.iter().enumerate().filter(|(other, _)| *other != at);
            let others = others.fold(0, |bits, (_, other)| bits | other.bits);
            if words.len() > 1 && word.bits & !others == 0 {
                return Err(Clash::AddsNothing(word.name.clone()));
            }
        }
        let bits = words.iter().fold(0, |bits, word| bits | word.bits);
        if words.is_empty() { Err(Clash::Empty) } else { Ok(bits) }
    }
}
