//! What Yosys' `write_smt2 -wires` wrote of a core, taken apart into one function for each signal.
//!
//! Yosys defines signals as functions of the state, each in terms of others. A solver puts the body of such a function in the
//! place of every call while it reads, which takes for ever when they are nested as deeply as here; so each clock cycle gets
//! signals of its own, as constants that are equal to something.

use crate::Watch;

/// What Yosys is told at its standard input (`yosys -q -s /dev/stdin`), so that it prints what [`Module::read`] reads.
pub fn yosys_script(module: &str, verilog: &str) -> String {
    format!(
        "read_verilog <<END_OF_CORE\n{verilog}\nEND_OF_CORE\nhierarchy -top {module}\nproc\n\
         setattr -set keep 1 w:*_q\nopt_clean -purge\nwrite_smt2 -wires /dev/stdout\n"
    )
}

/// A core as Yosys describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    name: String,
    signals: Vec<Signal>,
    /// How the state changes at a clock edge.
    transition: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Signal {
    name: String,
    sort: String,
    /// What it is made of; nothing, if it is an input or a part of the state.
    body: Option<String>,
}

impl Module {
    /// Reads what Yosys wrote.
    ///
    /// # Errors
    /// If it is not what Yosys writes with these options.
    pub fn read(name: &str, text: &str) -> Result<Module, String> {
        let mut module = Module { name: name.to_owned(), signals: Vec::new(), transition: String::new() };
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
        if module.transition.is_empty() { Err("it does not say how the state changes".to_owned()) } else { Ok(module) }
    }

    fn form(&mut self, form: &str) -> Option<()> {
        let inner = form.strip_prefix('(')?.strip_suffix(')')?;
        let items = items(inner)?;
        match items.as_slice() {
            ["declare-sort", ..] => {}
            ["declare-fun", name, _, sort] => {
                let (name, sort) = (name.trim_matches('|').to_owned(), (*sort).to_owned());
                self.signals.push(Signal { name, sort, body: None });
            }
            ["define-fun", name, parameters, sort, body] => {
                let name = name.trim_matches('|');
                if parameters.contains("next_state") {
                    // The others of this kind say which state is the same in a hierarchy, of which there is none.
                    if name == format!("{}_t", self.name) {
                        self.transition = (*body).to_owned();
                    }
                } else {
                    let (name, sort, body) = (name.to_owned(), (*sort).to_owned(), Some((*body).to_owned()));
                    self.signals.push(Signal { name, sort, body });
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The core in one clock cycle: all signals, in a state of which nothing is known.
    pub(crate) fn cycle(&self, state: &str) -> String {
        let mut text = String::new();
        for Signal { name, sort, body } in &self.signals {
            text.push_str(&match body {
                Some(body) => {
                    let body = self.at(body, state, state);
                    format!("(declare-fun |{name}@{state}| () {sort})\n(assert (= |{name}@{state}| {body}))\n")
                }
                None => format!("(declare-fun |{name}@{state}| () {sort})\n"),
            });
        }
        text
    }

    /// What holds of two cycles, one after the other.
    pub(crate) fn edge(&self, now: &str, then: &str) -> String {
        format!("(assert {})\n", self.at(&self.transition, now, then))
    }

    /// A signal in a cycle.
    pub(crate) fn signal(&self, name: &str, state: &str) -> String {
        format!("|{}_n {name}@{state}|", self.name)
    }

    /// The signals that a person can follow, in a cycle: those with a name, outside of what single instructions do. Wider ones than
    /// an answer has room for are made of others.
    pub(crate) fn waves(&self, state: &str) -> Vec<Watch> {
        let prefix = format!("{}_n ", self.name);
        let wave = |signal: &Signal| {
            let name = signal.name.strip_prefix(&prefix)?;
            let bits = match signal.sort.as_str() {
                "Bool" => 1,
                sort => sort.strip_prefix("(_ BitVec ")?.strip_suffix(')')?.parse().ok()?,
            };
            let is_plain = name != "clk" && !name.contains(['.', '$', '\\']);
            let term = self.signal(name, state);
            (is_plain && bits <= u64::BITS).then(|| Watch::Wave(name.to_owned(), bits, term))
        };
        self.signals.iter().filter_map(wave).collect()
    }

    /// A body with the cycles put in for the states.
    fn at(&self, body: &str, now: &str, then: &str) -> String {
        let mut text = String::new();
        let mut rest = body;
        while let Some(first) = rest.chars().next() {
            let call = rest.strip_prefix("(|").and_then(|inner| inner.split_once('|'));
            if let Some((name, after)) = call {
                let found = [(" state)", now), (" next_state)", then)]
                    .into_iter()
                    .find_map(|(argument, cycle)| Some((cycle, after.strip_prefix(argument)?)));
                if let Some((cycle, after)) = found {
                    text.push_str(&format!("|{name}@{cycle}|"));
                    rest = after;
                    continue;
                }
            }
            let word: usize =
                rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').map(char::len_utf8).sum();
            let (piece, after) = rest.split_at(word.max(first.len_utf8()));
            text.push_str(match piece {
                "state" => now,
                "next_state" => then,
                other => other,
            });
            rest = after;
        }
        text
    }
}

/// The items of a list, without its parentheses.
fn items(mut text: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    while !text.trim_start().is_empty() {
        let (one, rest) = item(text.trim_start())?;
        all.push(one);
        text = rest;
    }
    Some(all)
}

/// The first item of a text, and the rest.
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
  (= (bvadd (|c#0| state) #x01) (|c#0| next_state)) ; step
)
";

    #[test]
    fn each_cycle_has_its_own_signals() {
        let module = Module::read("c", COUNTER).unwrap();
        assert_eq!(
            module.cycle("s3"),
            "(declare-fun |c#0@s3| () (_ BitVec 8))\n\
             (declare-fun |c_n state@s3| () (_ BitVec 8))\n\
             (assert (= |c_n state@s3| ((_ extract 7 0) |c#0@s3|)))\n\
             (declare-fun |c_h@s3| () Bool)\n\
             (assert (= |c_h@s3| true))\n"
        );
        assert_eq!(module.edge("s3", "s4"), "(assert (= (bvadd |c#0@s3| #x01) |c#0@s4|))\n");
        assert_eq!(module.signal("state", "s3"), "|c_n state@s3|");
    }

    #[test]
    fn what_yosys_does_not_write_is_refused() {
        for text in ["", "(define-fun", "(assert true)", "(declare-sort |c_s| 0)"] {
            assert!(Module::read("c", text).is_err(), "{text}");
        }
    }
}
