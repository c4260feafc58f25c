//! The text of a core, in pieces: all of them together are the core, and some of them what is looked at by itself.

use crate::decode::Decode;
use crate::expression::number;
use crate::writer::Writer;

/// The text of a core, in the pieces that a slice leaves out or keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) start: String,
    pub(crate) decode: Decode,
    pub(crate) declared: String,
    /// What `on step` does.
    pub(crate) hook: String,
    /// Whether it jumps whenever it is done.
    pub(crate) hook_jumps: bool,
    pub(crate) before: String,
    /// What instructions do: all of it, or part by part.
    pub(crate) cases: Vec<Case>,
    /// Which arm each instruction has in each case, if it has one; what is done at bits that no row has, last.
    pub(crate) arms: Vec<Vec<Option<usize>>>,
    pub(crate) after: String,
}

/// One of several things is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// What tells which.
    pub(crate) of: String,
    /// The bits of that.
    pub(crate) bits: u32,
    pub(crate) arms: Vec<String>,
}

impl Case {
    /// It with these arms only.
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
    /// The core.
    pub(crate) fn whole(&self) -> String {
        let decode = self.decode.whole();
        // The last arm of the first is for whatever no other is for.
        let otherwise = std::iter::once("").chain(std::iter::repeat("default: ;"));
        let cases: String =
            self.cases.iter().zip(otherwise).map(|(case, other)| case.with(case.arms.iter(), other)).collect();
        format!("{}{decode}{}{}{}{cases}{}", self.start, self.declared, self.hook, self.before, self.after)
    }

    /// The core with what one instruction does only, and with what `on step` does in place of an instruction only in the last. Other rows
    /// are not decoded. It gets stuck where the whole would go to another.
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

    /// What decodes, as a module of its own.
    pub(crate) fn decoder(&self, module: &str) -> String {
        self.decode.module(module)
    }

    /// How long the text is that says what instructions do, without comments.
    pub(crate) fn length(&self) -> usize {
        let lines = self.cases.iter().flat_map(|case| &case.arms).flat_map(|arm| arm.lines()).map(str::trim_start);
        lines.filter(|line| !line.starts_with("//")).map(str::len).sum()
    }

    /// The number of each instruction: those of its arms, one above the other. 0 is for what is none.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let number = |arms: &Vec<Option<usize>>| {
            self.cases.iter().zip(arms).fold(0, |above, (case, arm)| above << case.bits | arm_number(*arm))
        };
        self.arms[..self.arms.len() - 1].iter().map(number).collect()
    }

    /// The bits of such a number.
    pub(crate) fn number_bits(&self) -> u32 {
        self.cases.iter().map(|case| case.bits).sum()
    }

    /// The number of an instruction in each case.
    pub(crate) fn number(&self, at: usize) -> Vec<u64> {
        self.arms[at].iter().map(|arm| arm_number(*arm)).collect()
    }
}

/// How an arm is called; 0 is where there is none, and the one for what no row has.
fn arm_number(arm: Option<usize>) -> u64 {
    arm.map_or(0, |arm| arm as u64 + 1)
}

/// How deep the cases are.
pub(crate) const CASES: usize = 3;

/// How the arm for bits that no row has begins.
pub(crate) const OTHERWISE: &str = "default: begin";
