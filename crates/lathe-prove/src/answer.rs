//! The answer of a solver: that there is no counterexample, one with its values, or that it does not know.

use crate::evaluate::{Bits, Evaluation};
use crate::graph::Node;
use crate::{Query, Watch, Wave};

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The claim holds in every case.
    Proven,
    /// The claim fails in this case.
    Refuted(Case),
    /// The solver gave up.
    Undecided,
}

/// A counterexample: a case in which a claim fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The state before the step, by name: the program counter, registers, and cells that the step reads.
    pub before: Vec<(String, u64)>,
    /// The cells at the program counter.
    pub code: Vec<u64>,
    /// The values to be read from streams.
    pub input: Vec<u64>,
    /// The differences after the step: name, expected and actual value.
    pub after: Vec<(String, u64, u64)>,
    /// How the machine goes on, if it should go on otherwise.
    pub status: Option<&'static str>,
    /// Other conditions that fail.
    pub broken: Vec<String>,
    /// The signals of the core, clock cycle by clock cycle.
    pub waves: Vec<Wave>,
}

impl Case {
    /// Returns a row of `examples` for the given text of the instruction, with the actual results after `->`. A correct
    /// machine fails it. `None` if only something is wrong that examples cannot express.
    pub fn example(&self, instruction: &str) -> Option<String> {
        let mut before: Vec<String> = self.before.iter().map(|(name, value)| format!("{name} = {value:#x}")).collect();
        if !self.input.is_empty() {
            let input: Vec<String> = self.input.iter().map(u64::to_string).collect();
            before.push(format!("input {}", input.join(" ")));
        }
        let mut after: Vec<String> = self.after.iter().map(|(name, _, found)| format!("{name} = {found:#x}")).collect();
        after.extend(self.status.map(str::to_owned));
        (!after.is_empty()).then(|| format!("{instruction} : {} -> {}", before.join(", "), after.join(", ")))
    }
}

/// Reads what the solver printed.
pub(crate) fn read(query: &Query, output: &str) -> Result<Answer, String> {
    match output.split_whitespace().next() {
        Some("unsat") => Ok(Answer::Proven),
        Some("unknown" | "timeout") => Ok(Answer::Undecided),
        // The query asked for nothing about the case.
        Some("sat") if query.watched.is_empty() => Ok(Answer::Refuted(Case::default())),
        Some("sat") => {
            let wrong = || output.trim().to_owned();
            let values = if query.chosen.is_empty() { Vec::new() } else { values(output).ok_or_else(wrong)? };
            let chosen = query.chosen.iter().copied().zip(values).collect();
            let nodes: Vec<Node> = query.watched.iter().flat_map(Watch::nodes).collect();
            let told = Evaluation::new(&query.graph, chosen).of(&nodes);
            let told: Vec<u64> = told.iter().map(|bits| number(bits)).collect();
            Ok(Answer::Refuted(case(&query.watched, &told)))
        }
        _ => Err(output.trim().to_owned()),
    }
}

/// Returns the lowest 64 bits as a number.
fn number(bits: &[bool]) -> u64 {
    bits.iter().take(64).rev().fold(0, |all, bit| all << 1 | u64::from(*bit))
}

fn case(watched: &[Watch], values: &[u64]) -> Case {
    let mut values = values.iter().copied();
    let mut next = || values.next().unwrap_or(0);
    let mut case = Case::default();
    for watch in watched {
        match watch {
            Watch::Before(name, _) => case.before.push((name.clone(), next())),
            Watch::Code(_) => case.code.push(next()),
            Watch::Input(_) => case.input.push(next()),
            Watch::Read(memory, ..) => {
                let cell = (format!("{memory}[{:#x}]", next()), next());
                if !case.before.contains(&cell) {
                    case.before.push(cell);
                }
            }
            Watch::Status(word, ..) => {
                let (mine, its) = (next(), next());
                if mine != its {
                    case.status = Some(if its == 1 { word } else { "running" });
                }
            }
            Watch::After(name, ..) => {
                let (mine, its) = (next(), next());
                if mine != its {
                    case.after.push((name.clone(), mine, its));
                }
            }
            Watch::Cell(memory, ..) => {
                let (address, mine, its) = (next(), next(), next());
                if mine != its {
                    case.after.push((format!("{memory}[{address:#x}]"), mine, its));
                }
            }
            Watch::Same(name, _) => {
                if next() == 0 {
                    case.broken.push(name.clone());
                }
            }
            Watch::Wave(name, bits, _) => {
                let value = next();
                match case.waves.iter_mut().find(|wave| wave.name == *name) {
                    Some(wave) => wave.values.push(value),
                    None => case.waves.push(Wave { name: name.clone(), bits: *bits, values: vec![value] }),
                }
            }
        }
    }
    case
}

/// Reads the values of `((term value) (term value) …)`, in order. A term may be anything with balanced parentheses.
fn values(output: &str) -> Option<Vec<Bits>> {
    let mut depth = 0_u32;
    let mut values = Vec::new();
    let mut last = String::new();
    let mut is_quoted = false;
    for letter in output.strip_prefix("sat")?.chars() {
        match letter {
            '|' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => {
                depth += 1;
                last.clear();
            }
            ')' => {
                if depth == 2 {
                    values.push(bits_of(last.trim())?);
                }
                depth = depth.checked_sub(1)?;
                last.clear();
                if depth == 0 {
                    return Some(values);
                }
            }
            letter if letter.is_whitespace() => last.clear(),
            letter => last.push(letter),
        }
    }
    None
}

fn bits_of(text: &str) -> Option<Bits> {
    let (digits, base, width) = match text {
        "true" => return Some(vec![true]),
        "false" => return Some(vec![false]),
        _ => match text.split_at_checked(2)? {
            ("#x", digits) => (digits, 16, 4),
            ("#b", digits) => (digits, 2, 1),
            _ => return None,
        },
    };
    let digits: Option<Vec<u32>> = digits.chars().rev().map(|digit| digit.to_digit(base)).collect();
    Some(digits?.into_iter().flat_map(|digit| (0..width).map(move |bit| digit >> bit & 1 == 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    /// Returns a query about unknowns with these names and widths; `watched` selects what is reported.
    fn query(unknowns: &[(&str, u32)], watched: impl Fn(&mut Graph, &[Node]) -> Vec<Watch>) -> Query {
        let mut graph = Graph::default();
        let chosen: Vec<Node> = unknowns.iter().map(|(name, bits)| graph.unknown(name, *bits)).collect();
        let watched = watched(&mut graph, &chosen);
        Query { text: String::new(), graph, chosen, watched }
    }

    #[test]
    fn a_case_is_read_value_by_value() {
        let query = query(&[("p c(", 8), ("v", 8), ("w", 8), ("c", 1)], |graph, unknown| {
            let sum = graph.add(unknown[1], unknown[2]);
            vec![
                Watch::Before("pc".to_owned(), unknown[0]),
                Watch::After("a".to_owned(), unknown[1], unknown[2]),
                Watch::After("b".to_owned(), unknown[1], unknown[1]),
                Watch::Cell("ram".to_owned(), sum, unknown[0], unknown[1]),
                Watch::Same("halted".to_owned(), unknown[3]),
            ]
        });
        let output = "sat\n((|p c(| #x10)\n (|v| #x01) (|w| #b00000010)\n (c false))\n";
        let Ok(Answer::Refuted(case)) = read(&query, output) else { panic!("{:?}", read(&query, output)) };
        assert_eq!(case.before, [("pc".to_owned(), 0x10)]);
        assert_eq!(case.after, [("a".to_owned(), 1, 2), ("ram[0x3]".to_owned(), 0x10, 1)]);
        assert_eq!(case.broken, ["halted"]);
    }

    #[test]
    fn what_is_no_answer_is_the_solvers_own_words() {
        let nothing = query(&[], |_, _| Vec::new());
        let said = |output: &str| read(&nothing, output);
        assert_eq!(said("unsat\n(error \"no model\")\n"), Ok(Answer::Proven));
        assert_eq!(said("unknown\n"), Ok(Answer::Undecided));
        assert_eq!(said("timeout\n"), Ok(Answer::Undecided));
        assert_eq!(said("(error \"line 3: unknown sort\")\n"), Err("(error \"line 3: unknown sort\")".to_owned()));
        assert_eq!(said("sat\n"), Ok(Answer::Refuted(Case::default())));
        let something = query(&[("x", 8)], |_, unknown| vec![Watch::Code(unknown[0])]);
        assert!(read(&something, "sat\n((x #x").is_err());
        assert!(read(&something, "sat\n((x ?))").is_err());
    }
}
