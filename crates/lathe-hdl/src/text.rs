//! The text of a core, in pieces: all of them make the core, and some of them a slice or the decoder.

use crate::decode::Decode;
use crate::expression::number;
use crate::writer::Writer;

/// The text of a core, in the pieces that a slice leaves out or keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) start: String,
    pub(crate) decode: Decode,
    pub(crate) declared: String,
    /// The actions of `on step`.
    pub(crate) hook: String,
    /// Whether these actions always jump.
    pub(crate) hook_jumps: bool,
    pub(crate) before: String,
    /// The actions of instructions: whole, or part by part.
    pub(crate) cases: Vec<Case>,
    /// The arm that each instruction has in each case, if any; the last entry is for bits that no row has.
    pub(crate) arms: Vec<Vec<Option<usize>>>,
    pub(crate) after: String,
}

/// A `case` statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// The signal that selects the arm.
    pub(crate) of: String,
    /// The width of this signal.
    pub(crate) bits: u32,
    pub(crate) arms: Vec<String>,
}

impl Case {
    /// Returns the text of the case with only these arms.
    fn with<'a>(&self, arms: impl Iterator<Item = &'a String>, otherwise: &str) -> String {
        let arms: String = arms.map(String::as_str).collect();
        let mut out = Writer::at(CASES);
        out.open(format!("case ({})", self.of));
        out.raw(&arms);
        if !otherwise.is_empty() {
            out.line(otherwise);
        }
        out.close("endcase");
        out.finish()
    }
}

impl Text {
    /// Returns the text of the core.
    pub(crate) fn whole(&self) -> String {
        let decode = self.decode.whole();
        // The first case has an arm for everything else already.
        let otherwise = std::iter::once("").chain(std::iter::repeat("default: ;"));
        let cases: String =
            self.cases.iter().zip(otherwise).map(|(case, other)| case.with(case.arms.iter(), other)).collect();
        format!("{}{decode}{}{}{}{cases}{}", self.start, self.declared, self.hook, self.before, self.after)
    }

    /// Returns the core with the actions of one instruction only; the last slice also has the actions of `on step` in
    /// place of an instruction. Other rows are not decoded. A slice gets stuck where the core would go to another
    /// instruction.
    pub(crate) fn slice(&self, at: usize) -> Option<String> {
        let arms = self.arms.get(at)?;
        let decode = self.decode.row(at);
        let others = "default: stop = 1'b1; // what the core does with other bits is left out";
        let others = std::iter::once(others).chain(std::iter::repeat("default: ;"));
        let cases: String = (self.cases.iter().zip(arms).zip(others))
            .map(|((case, arm), others)| {
                let none = format!("{}: begin", number(case.bits, 0));
                let arm = arm.map(|arm| case.arms[arm].replacen(OTHERWISE, &none, 1));
                case.with(arm.iter(), others)
            })
            .collect();
        let hook = match self.hook_jumps && at + 1 < self.arms.len() {
            true => "      jump = 1'b1; stop = 1'b1; // what the core does on step is left out\n",
            false => &self.hook,
        };
        let (start, declared) = (&self.start, &self.declared);
        Some(format!("{start}{decode}{declared}{hook}{}{cases}{}", self.before, self.after))
    }

    /// Returns the decoder as a module of its own.
    pub(crate) fn decoder(&self, module: &str) -> String {
        self.decode.module(module)
    }

    /// Returns the length of the text of the instructions' actions, without comments.
    pub(crate) fn length(&self) -> usize {
        let lines = self.cases.iter().flat_map(|case| &case.arms).flat_map(|arm| arm.lines()).map(str::trim_start);
        lines.filter(|line| !line.starts_with("//")).map(str::len).sum()
    }

    /// Returns the number of each instruction: its arms' numbers, one above the other. 0 is for no instruction.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let number = |arms: &Vec<Option<usize>>| {
            self.cases.iter().zip(arms).fold(0, |above, (case, arm)| above << case.bits | arm_number(*arm))
        };
        self.arms[..self.arms.len() - 1].iter().map(number).collect()
    }

    /// Returns the width of such a number.
    pub(crate) fn number_bits(&self) -> u32 {
        self.cases.iter().map(|case| case.bits).sum()
    }

    /// Returns the number of an instruction's arm in each case.
    pub(crate) fn number(&self, at: usize) -> Vec<u64> {
        self.arms[at].iter().map(|arm| arm_number(*arm)).collect()
    }
}

/// Returns the number of an arm. 0 is for no arm, and for the arm of bits that no row has.
fn arm_number(arm: Option<usize>) -> u64 {
    arm.map_or(0, |arm| arm as u64 + 1)
}

/// The indentation of the cases.
pub(crate) const CASES: usize = 3;

/// The beginning of the arm for bits that no row has.
pub(crate) const OTHERWISE: &str = "default: begin";
