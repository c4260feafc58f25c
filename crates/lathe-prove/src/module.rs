//! The output of Yosys' `write_smt2 -wires` for a core, split into one formula per signal; and the core in single clock
//! cycles, in which each signal is a value.

use std::collections::HashMap;

use lathe_hdl::DIVISION;

use crate::Watch;
use crate::graph::{Facts, Graph, Node};

/// Returns the script for Yosys' standard input (`yosys -q -s /dev/stdin`) that makes it print what [`Module::read`]
/// reads. The script removes the division unit, so that nothing is known about its outputs.
pub fn yosys_script(module: &str, verilog: &str) -> String {
    format!(
        "read_verilog <<END_OF_CORE\n{verilog}\nEND_OF_CORE\ndelete t:{module}{DIVISION}\nhierarchy -top {module}\nproc\n\
         setattr -set keep 1 w:*_q w:divide_*\nopt_clean -purge\nwrite_smt2 -wires /dev/stdout\n"
    )
}

/// A core as Yosys describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    name: String,
    signals: Vec<Signal>,
    /// The index of each signal by its name.
    places: HashMap<String, usize>,
    /// How the state changes at a clock edge: a part of it, and its next value.
    changes: Vec<(usize, Formula)>,
    /// Whether the changes have been read.
    is_complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Signal {
    name: String,
    bits: u32,
    /// Its formula; `None` if it is an input or a part of the state.
    body: Option<Formula>,
}

/// The formula of a signal. A condition is a value of one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Formula {
    /// Bits, the highest first.
    Constant(Vec<bool>),
    Signal(usize),
    /// An operator, with its numbers if it has any.
    Apply(String, Vec<u32>, Vec<Formula>),
}

impl Module {
    /// Reads the output of Yosys.
    ///
    /// # Errors
    /// If Yosys does not write this with these options.
    pub fn read(name: &str, text: &str) -> Result<Module, String> {
        let mut module = Module { name: name.to_owned(), ..Module::default() };
        let code: String = text.lines().map(|line| line.split_once(';').map_or(line, |(code, _)| code)).fold(
            String::new(),
            |mut all, line| {
                all.push_str(line);
                all.push('\n');
                all
            },
        );
        let mut rest = code.trim_start();
        while !rest.is_empty() {
            let (form, after) =
                item(rest).ok_or_else(|| format!("there is a piece that never ends: {}", start(rest)))?;
            module.form(form).ok_or_else(|| format!("there is something unknown: {}", start(form)))?;
            rest = after.trim_start();
        }
        module.is_complete.then_some(module).ok_or_else(|| "it does not say how the state changes".to_owned())
    }

    fn form(&mut self, form: &str) -> Option<()> {
        let inner = form.strip_prefix('(')?.strip_suffix(')')?;
        let items = items(inner)?;
        match items.as_slice() {
            ["declare-sort", ..] => {}
            ["declare-fun", name, _, sort] => self.signal(name, sort, None)?,
            ["define-fun", name, parameters, sort, body] => {
                if parameters.contains("next_state") {
                    // Yosys defines the other functions of this kind for hierarchies, of which there are none.
                    if name.trim_matches('|') == format!("{}_t", self.name) {
                        self.transition(body)?;
                    }
                } else {
                    let body = self.formula(body)?;
                    self.signal(name, sort, Some(body))?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn signal(&mut self, name: &str, sort: &str, body: Option<Formula>) -> Option<()> {
        let bits = match sort {
            "Bool" => 1,
            sort => sort.strip_prefix("(_ BitVec ")?.strip_suffix(')')?.parse().ok()?,
        };
        let name = name.trim_matches('|').to_owned();
        self.places.insert(name.clone(), self.signals.len());
        self.signals.push(Signal { name, bits, body });
        Some(())
    }

    /// Reads `(and (= what-it-becomes (|part| next_state)) …)`, one of these alone, or `true` where there is no state.
    fn transition(&mut self, body: &str) -> Option<()> {
        self.is_complete = true;
        if body.trim() == "true" {
            return Some(());
        }
        let all = items(body.trim().strip_prefix('(')?.strip_suffix(')')?)?;
        let changes = if all.first() == Some(&"and") { all[1..].to_vec() } else { vec![body.trim()] };
        for change in changes {
            let parts = items(change.strip_prefix('(')?.strip_suffix(')')?)?;
            let ["=", value, part] = parts.as_slice() else { return None };
            let part = part.strip_prefix("(|")?.strip_suffix("| next_state)")?;
            let place = *self.places.get(part)?;
            let value = self.formula(value)?;
            self.changes.push((place, value));
        }
        Some(())
    }

    fn formula(&self, text: &str) -> Option<Formula> {
        let text = text.trim();
        match text {
            "true" => return Some(Formula::Constant(vec![true])),
            "false" => return Some(Formula::Constant(vec![false])),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("#b") {
            return Some(Formula::Constant(digits.chars().map(|digit| digit == '1').collect()));
        }
        let parts = items(text.strip_prefix('(')?.strip_suffix(')')?)?;
        let (first, rest) = parts.split_first()?;
        if let (Some(name), ["state"]) = (first.strip_prefix('|'), rest) {
            return Some(Formula::Signal(*self.places.get(name.strip_suffix('|')?)?));
        }
        let (name, numbers) = match first.strip_prefix("(_ ") {
            Some(indexed) => {
                let mut words = indexed.strip_suffix(')')?.split_whitespace();
                (words.next()?, words.map(|word| word.parse().ok()).collect::<Option<Vec<u32>>>()?)
            }
            None => (*first, Vec::new()),
        };
        let given = rest.iter().map(|part| self.formula(part)).collect::<Option<Vec<Formula>>>()?;
        Some(Formula::Apply(name.to_owned(), numbers, given))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.get(&format!("{}_n {name}", self.name)).copied()
    }

    /// Returns the bits of inputs and of the state that make up a signal, if it consists of nothing else: for each, the
    /// first bit and the number of bits, the highest first.
    fn pieces(&self, body: &Formula) -> Option<Vec<(usize, u32, u32)>> {
        let (name, numbers, given) = match body {
            Formula::Constant(_) => return None,
            Formula::Signal(place) => {
                let Signal { bits, body, .. } = &self.signals[*place];
                return body.as_ref().map_or(Some(vec![(*place, 0, *bits)]), |body| self.pieces(body));
            }
            Formula::Apply(name, numbers, given) => (name.as_str(), numbers.as_slice(), given.as_slice()),
        };
        match (name, numbers, given) {
            // Yosys writes a one-bit state as a vector, and as the condition that it is 1.
            ("=", [], [bit, Formula::Constant(one)]) if one[..] == [true] => self.pieces(bit),
            ("concat", [], parts) => {
                let parts = parts.iter().map(|part| self.pieces(part)).collect::<Option<Vec<_>>>()?;
                Some(parts.concat())
            }
            ("extract", [high, low], [whole]) => {
                let (mut at, mut found) = (0, Vec::new());
                for (place, first, bits) in self.pieces(whole)?.into_iter().rev() {
                    let (from, to) = (at.max(*low), (at + bits).min(high + 1));
                    if from < to {
                        found.push((place, first + from - at, to - from));
                    }
                    at += bits;
                }
                found.reverse();
                Some(found)
            }
            _ => None,
        }
    }
}

/// A core in one clock cycle.
#[derive(Clone, Debug)]
pub(crate) struct Moment<'m> {
    module: &'m Module,
    name: String,
    values: Vec<Option<Node>>,
    /// Signals that are more than an input or a part of the state, with their required values.
    claimed: Vec<(String, Node)>,
}

impl<'m> Moment<'m> {
    /// Returns a cycle about which nothing is known.
    pub(crate) fn new(module: &'m Module, name: &str) -> Moment<'m> {
        Moment { module, name: name.to_owned(), values: vec![None; module.signals.len()], claimed: Vec::new() }
    }

    /// Sets the value of a signal, before anything is computed from it.
    pub(crate) fn give(&mut self, graph: &mut Graph, name: &str, value: Node) {
        let pieces = self.module.place(name).and_then(|place| self.module.pieces(&Formula::Signal(place)));
        if pieces.and_then(|pieces| self.give_pieces(graph, &pieces, value)).is_none() {
            self.claimed.push((name.to_owned(), value));
        }
    }

    /// Assembles signals from their pieces. Each signal must be complete.
    fn give_pieces(&mut self, graph: &mut Graph, pieces: &[(usize, u32, u32)], value: Node) -> Option<()> {
        let mut low = graph.bits(value);
        let mut found = Vec::new();
        for (place, first, bits) in pieces {
            low = low.checked_sub(*bits)?;
            found.push((*place, *first, *bits, graph.slice(value, low, *bits)));
        }
        // By signal, and the highest bits of each first.
        found.sort_by_key(|(place, first, ..)| (*place, std::cmp::Reverse(*first)));
        let all: Vec<_> = found.chunk_by(|one, other| one.0 == other.0).collect();
        for parts in &all {
            let place = parts[0].0;
            let mut above = self.module.signals[place].bits;
            for (_, first, bits, _) in *parts {
                above = above.checked_sub(*bits).filter(|above| above == first)?;
            }
            if above != 0 || self.values[place].is_some() {
                return None;
            }
        }
        for parts in all {
            let nodes: Vec<Node> = parts.iter().map(|part| part.3).collect();
            self.values[parts[0].0] = Some(graph.join(&nodes));
        }
        Some(())
    }

    /// Simplifies the cycle by known facts.
    pub(crate) fn under(&self, graph: &mut Graph, facts: &mut Facts) -> Moment<'m> {
        let values = self.values.iter().map(|value| value.map(|node| graph.under(facts, node))).collect();
        Moment { values, ..self.clone() }
    }

    /// Computes what follows from the given values. Every signal is simplified by the facts at once, so that nothing is
    /// built on impossible cases.
    pub(crate) fn compute(&mut self, graph: &mut Graph, facts: &mut Facts) {
        for at in 0..self.module.signals.len() {
            if let (None, Some(body)) = (self.values[at], &self.module.signals[at].body) {
                self.values[at] = evaluate(graph, body, &self.values).map(|node| graph.under(facts, node));
            }
        }
    }

    /// Computes everything; values that were not given are unknown. Returns the assumptions: that signals which are
    /// more than an input or a part of the state have their given values.
    pub(crate) fn settle(&mut self, graph: &mut Graph, facts: &mut Facts) -> Vec<Node> {
        for (signal, value) in self.module.signals.iter().zip(&mut self.values) {
            if signal.body.is_none() && value.is_none() {
                *value = Some(graph.unknown(&format!("{}@{}", signal.name, self.name), signal.bits));
            }
        }
        self.compute(graph, facts);
        let claimed = std::mem::take(&mut self.claimed);
        let same = |(name, value): (String, Node)| {
            let signal = self.signal(graph, &name, graph.bits(value));
            graph.equal(signal, value)
        };
        claimed.into_iter().map(same).collect()
    }

    /// Returns the next cycle, of which only the state is known.
    pub(crate) fn next(&self, graph: &mut Graph, name: &str, facts: &mut Facts) -> Moment<'m> {
        let mut then = Moment::new(self.module, name);
        for (place, formula) in &self.module.changes {
            then.values[*place] = evaluate(graph, formula, &self.values).map(|node| graph.under(facts, node));
        }
        then.compute(graph, facts);
        then
    }

    /// Returns the known values of everything that stays from one cycle to the next, in a fixed order.
    pub(crate) fn state(&self) -> impl Iterator<Item = Node> {
        self.module.changes.iter().filter_map(|(place, _)| self.values[*place])
    }

    /// Returns a signal: an unknown, if the core does not have it or it cannot be computed yet.
    pub(crate) fn signal(&self, graph: &mut Graph, name: &str, bits: u32) -> Node {
        let found = self.module.place(name).and_then(|place| self.values[place]);
        match found {
            Some(node) if graph.bits(node) == bits => node,
            _ => graph.unknown(&format!("{name}@{}", self.name), bits),
        }
    }

    /// Returns the signals that a person can follow: those with a name, outside the actions of single instructions.
    /// Signals wider than an answer allows are made of others.
    pub(crate) fn waves(&self) -> Vec<Watch> {
        let prefix = format!("{}_n ", self.module.name);
        let wave = |(signal, value): (&Signal, &Option<Node>)| {
            let name = signal.name.strip_prefix(&prefix)?;
            let is_plain = name != "clk" && !name.contains(['.', '$', '\\']);
            (is_plain && signal.bits <= u64::BITS).then_some(Watch::Wave(name.to_owned(), signal.bits, (*value)?))
        };
        self.module.signals.iter().zip(&self.values).filter_map(wave).collect()
    }
}

/// Returns the value of a formula, if everything in it has one.
fn evaluate(graph: &mut Graph, formula: &Formula, values: &[Option<Node>]) -> Option<Node> {
    let (name, numbers, given) = match formula {
        Formula::Constant(digits) => {
            let parts: Vec<Node> = digits.iter().map(|digit| graph.constant(1, u128::from(*digit))).collect();
            return Some(graph.join(&parts));
        }
        Formula::Signal(place) => return values[*place],
        Formula::Apply(name, numbers, given) => (name.as_str(), numbers.as_slice(), given),
    };
    if let ("and" | "or", [_, _, ..]) = (name, given.as_slice())
        && let Some(bits) = bits_of(given)
    {
        return all_or_any(graph, name == "and", &bits, values);
    }
    let given = given.iter().map(|one| evaluate(graph, one, values)).collect::<Option<Vec<Node>>>()?;
    Some(match (name, given.as_slice(), numbers) {
        ("and" | "bvand", [first, rest @ ..], _) => rest.iter().fold(*first, |all, one| graph.and(all, *one)),
        ("or" | "bvor", [first, rest @ ..], _) => rest.iter().fold(*first, |all, one| graph.or(all, *one)),
        ("xor" | "bvxor", [first, rest @ ..], _) => rest.iter().fold(*first, |all, one| graph.xor(all, *one)),
        ("bvxnor", [x, y], _) => {
            let differ = graph.xor(*x, *y);
            graph.not(differ)
        }
        ("not" | "bvnot", [x], _) => graph.not(*x),
        ("bvneg", [x], _) => graph.negate(*x),
        ("concat", parts, _) => graph.join(parts),
        ("extract", [x], [high, low]) => graph.slice(*x, *low, high + 1 - low),
        ("zero_extend", [x], [more]) => graph.zero_extend(graph.bits(*x) + more, *x),
        ("sign_extend", [x], [more]) => graph.sign_extend(graph.bits(*x) + more, *x),
        ("ite", [condition, x, y], _) => graph.choose(*condition, *x, *y),
        ("=", [x, y], _) => graph.equal(*x, *y),
        ("distinct", [x, y], _) => {
            let same = graph.equal(*x, *y);
            graph.not(same)
        }
        ("bvadd", [x, y], _) => graph.add(*x, *y),
        ("bvsub", [x, y], _) => graph.subtract(*x, *y),
        ("bvmul", [x, y], _) => graph.multiply(*x, *y),
        ("bvudiv", [x, y], _) => graph.divide(*x, *y),
        ("bvurem", [x, y], _) => graph.remainder(*x, *y),
        ("bvshl", [x, y], _) => graph.shift_left(*x, *y),
        ("bvlshr", [x, y], _) => graph.shift_right(*x, *y),
        ("bvashr", [x, y], _) => graph.shift_right_signed(*x, *y),
        ("bvult", [x, y], _) | ("bvugt", [y, x], _) => graph.less(*x, *y),
        ("bvuge", [x, y], _) | ("bvule", [y, x], _) => {
            let less = graph.less(*x, *y);
            graph.not(less)
        }
        ("bvslt", [x, y], _) | ("bvsgt", [y, x], _) => graph.less_signed(*x, *y),
        ("bvsge", [x, y], _) | ("bvsle", [y, x], _) => {
            let less = graph.less_signed(*x, *y);
            graph.not(less)
        }
        _ => return None,
    })
}

/// Yosys compares with zero, and with all ones, bit by bit: `(= ((_ extract 3 3) x) #b1)` for each. Returns these bits,
/// the lowest first.
fn bits_of(given: &[Formula]) -> Option<Vec<&Formula>> {
    given.iter().map(set_bit).collect()
}

/// Returns the bit that a formula compares with 1, if it does that.
fn set_bit(formula: &Formula) -> Option<&Formula> {
    let Formula::Apply(name, _, pair) = formula else { return None };
    match (name.as_str(), pair.as_slice()) {
        ("=", [bit @ Formula::Apply(extract, _, _), Formula::Constant(one)])
            if extract == "extract" && one[..] == [true] =>
        {
            Some(bit)
        }
        _ => None,
    }
}

/// Returns the value that bits belong to, and the lowest of them, if they are adjacent in one value.
fn neighbours<'f>(bits: &[&'f Formula]) -> Option<(&'f Formula, u32)> {
    let place = |bit: &&'f Formula| match bit {
        Formula::Apply(_, numbers, given) => Some((given.first()?, *numbers.first()?)),
        _ => None,
    };
    let (value, low) = bits.first().and_then(place)?;
    let are = bits.iter().zip(low..).all(|(bit, at)| place(bit) == Some((value, at)));
    are.then_some((value, low))
}

fn all_or_any(graph: &mut Graph, is_all: bool, bits: &[&Formula], values: &[Option<Node>]) -> Option<Node> {
    let whole = match neighbours(bits) {
        Some((value, low)) => {
            let value = evaluate(graph, value, values)?;
            graph.slice(value, low, bits.len() as u32)
        }
        None => {
            let mut parts = bits.iter().map(|bit| evaluate(graph, bit, values)).collect::<Option<Vec<Node>>>()?;
            parts.reverse();
            graph.join(&parts)
        }
    };
    let known: Vec<Node> = bits.iter().map(|_| graph.constant(1, is_all.into())).collect();
    let known = graph.join(&known);
    let same = graph.equal(whole, known);
    Some(if is_all { same } else { graph.not(same) })
}

/// Returns the items of a list, without its parentheses.
fn items(mut text: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    while !text.trim_start().is_empty() {
        let (one, rest) = item(text.trim_start())?;
        all.push(one);
        text = rest;
    }
    Some(all)
}

/// Returns the first item of a text, and the rest.
fn item(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut is_quoted) = (0_u32, false);
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        match letter {
            '|' => {
                is_quoted = !is_quoted;
                if !is_quoted && depth == 0 {
                    return Some(text.split_at(end));
                }
            }
            _ if is_quoted => {}
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(text.split_at(end));
                }
            }
            letter if letter.is_whitespace() && depth == 0 => return Some(text.split_at(at)),
            _ => {}
        }
    }
    (depth == 0 && !is_quoted).then_some((text, ""))
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTER: &str = "\
; yosys-smt2-module c
(declare-sort |c_s| 0)
(declare-fun |c#0| (|c_s|) (_ BitVec 8)) ; \\n state
(define-fun |c_n state| ((state |c_s|)) (_ BitVec 8) ((_ extract 7 0) (|c#0| state)))
(define-fun |c_h| ((state |c_s|)) Bool true)
(define-fun |c_t| ((state |c_s|) (next_state |c_s|)) Bool
  (= (bvadd (|c#0| state) #b00000001) (|c#0| next_state)) ; step
)
";

    #[test]
    fn a_cycle_follows_from_the_one_before() {
        let module = Module::read("c", COUNTER).unwrap();
        let mut graph = Graph::default();
        let mut now = Moment::new(&module, "now");
        let seven = graph.constant(8, 7);
        now.give(&mut graph, "state", seven);
        let mut facts = Facts::default();
        assert_eq!(now.settle(&mut graph, &mut facts), []);
        let then = now.next(&mut graph, "then", &mut facts);
        let state = then.signal(&mut graph, "state", 8);
        assert_eq!(graph.as_constant(state), Some(8));
    }

    #[test]
    fn what_yosys_does_not_write_is_refused() {
        for text in ["", "(define-fun", "(assert true)", "(declare-sort |c_s| 0)"] {
            assert!(Module::read("c", text).is_err(), "{text}");
        }
    }
}
