//! The signals of a core over time, as a file that waveform viewers open.

use std::fmt::Write as _;

use crate::Case;

/// A signal in consecutive clock cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wave {
    /// Its name in the core.
    pub name: String,
    /// Its width: 64 at most.
    pub bits: u32,
    /// Its value in each cycle.
    pub values: Vec<u64>,
}

/// The length of a clock cycle in the file, in nanoseconds.
const CYCLE: usize = 10;

impl Case {
    /// Returns the waves as a value change dump (IEEE 1364, section 18), with a clock that rises when a cycle begins.
    /// `None` if the case is not about clock cycles.
    pub fn vcd(&self, scope: &str) -> Option<String> {
        let cycles = self.waves.iter().map(|wave| wave.values.len()).max()?;
        let mut text = format!("$timescale 1 ns $end\n$scope module {scope} $end\n$var wire 1 {} clk $end\n", code(0));
        for (at, wave) in self.waves.iter().enumerate() {
            let range = if wave.bits == 1 { String::new() } else { format!(" [{}:0]", wave.bits - 1) };
            let _ = writeln!(text, "$var wire {} {} {}{range} $end", wave.bits, code(at + 1), wave.name);
        }
        text.push_str("$upscope $end\n$enddefinitions $end\n");
        for cycle in 0..cycles {
            let _ = writeln!(text, "#{}\n1{}", cycle * CYCLE, code(0));
            for (at, wave) in self.waves.iter().enumerate() {
                let before = cycle.checked_sub(1).and_then(|before| wave.values.get(before));
                let Some(now) = wave.values.get(cycle).filter(|now| before != Some(now)) else { continue };
                let _ = match wave.bits {
                    1 => writeln!(text, "{now}{}", code(at + 1)),
                    _ => writeln!(text, "b{now:b} {}", code(at + 1)),
                };
            }
            let _ = writeln!(text, "#{}\n0{}", cycle * CYCLE + CYCLE / 2, code(0));
        }
        let _ = writeln!(text, "#{}", cycles * CYCLE);
        Some(text)
    }
}

/// Returns the short name of a signal: digits made of the characters that the format allows.
fn code(mut number: usize) -> String {
    const LETTERS: usize = 94;
    let mut text = String::new();
    loop {
        text.push(char::from(b'!' + (number % LETTERS) as u8));
        number /= LETTERS;
        if number == 0 {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_tells_what_changes() {
        let wave = |name: &str, bits, values: &[u64]| Wave { name: name.to_owned(), bits, values: values.to_vec() };
        let case = Case { waves: vec![wave("step", 2, &[0, 2, 2]), wave("retire", 1, &[0, 0, 1])], ..Case::default() };
        let expected = "$timescale 1 ns $end\n$scope module c $end\n$var wire 1 ! clk $end\n$var wire 2 \" step [1:0] $end\n\
            $var wire 1 # retire $end\n$upscope $end\n$enddefinitions $end\n#0\n1!\nb0 \"\n0#\n#5\n0!\n#10\n1!\nb10 \"\n\
            #15\n0!\n#20\n1!\n1#\n#25\n0!\n#30\n";
        assert_eq!(case.vcd("c").as_deref(), Some(expected));
        assert_eq!(Case::default().vcd("c"), None);
        assert!((0..20_000).map(code).collect::<std::collections::BTreeSet<_>>().len() == 20_000);
    }
}
