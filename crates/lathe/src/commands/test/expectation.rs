//! What a program must do, as people write it: one statement per line, in comments of its source or in a separate file.
//!
//! ```text
//! ; expect: output "Hello\n"            in a source, after ; or # or //
//! ; expect: a = 5, ram[0x80] = 1, 2, 3
//! ; expect: steps <= 1000
//!
//! input "3 4\n"                         in a file, without the mark
//! output
//! | 7
//! | done
//! ends halted
//!
//! case "no input"                       what follows is another run of the same program
//! output ""
//! ```
//!
//! Statements before the first `case` hold for all of them. Deliberately absent: machines. Whether
//! a register exists is known when the program is run.

use std::fmt;

/// A run of a program, and its required result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Case {
    /// Its name; empty if it is the only case.
    pub(super) name: String,
    pub(super) input: Vec<u8>,
    pub(super) keys: String,
    pub(super) seed: Option<u64>,
    pub(super) checks: Vec<Condition>,
}

/// One condition that must hold at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// The console output is exactly this.
    Output(Vec<u8>),
    /// The console output contains this.
    Contains(Vec<u8>),
    /// The display shows this.
    Screen(String),
    /// A register, a view or the program counter has this value.
    Register(String, Number),
    /// Cells of a memory, from this address on, have these values.
    Cells { memory: String, address: Number, values: Vec<Number> },
    /// At most this many instructions were executed.
    Steps(u64),
    /// At most this many cycles were taken.
    Cycles(u64),
    /// The run ended like this.
    Ends(Ending, String),
}

/// How a run may be expected to end. Without a statement, either way of halting is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Halted,
    Stuck,
    Fault,
    Limit,
}

/// A number, or a name in the program plus a distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Value(i128),
    Label(String, i128),
}

/// A statement that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The line in its file, from 1.
    pub(super) line: usize,
    pub(super) message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Parses the expectations in the comments of a source; returns nothing if there are none.
pub(super) fn of_source(text: &str) -> Result<Vec<Case>, Mistake> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = comment(line) else {
            reader.close();
            continue;
        };
        reader.line = at + 1;
        match statement(comment) {
            Some(statement) => reader.read(statement)?,
            None => reader.continue_with(comment),
        }
    }
    Ok(reader.cases())
}

/// Parses a file of expectations.
pub(super) fn of_file(text: &str) -> Result<Vec<Case>, Mistake> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.line = at + 1;
        let line = line.trim();
        if line.starts_with('|') {
            reader.continue_with(line);
        } else if line.is_empty() || line.starts_with(['#', ';']) {
            reader.close();
        } else {
            reader.read(line.strip_prefix("expect:").unwrap_or(line).trim())?;
        }
    }
    Ok(reader.cases())
}

/// Returns the text of a line that is only a comment, without the mark.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let marked = line.starts_with([';', '#', '*']) || line.starts_with("//");
    marked.then(|| line.trim_start_matches([';', '#', '*', '/', ' ', '\t']).trim_end())
}

/// Returns the statement in a comment: what follows `expect:`, or the whole comment if it begins with `input:`,
/// `keys:`, `seed:` or `case:`.
fn statement(comment: &str) -> Option<&str> {
    if let Some(rest) = comment.strip_prefix("expect") {
        // `expected`, `expects` and the like are prose; a forgotten colon is not.
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix(' ').filter(|rest| looks_meant(rest)))?;
        return Some(rest.trim());
    }
    let given = ["input", "keys", "seed", "case"];
    given.iter().any(|word| comment.strip_prefix(word).is_some_and(|rest| rest.starts_with(':'))).then_some(comment)
}

fn looks_meant(rest: &str) -> bool {
    rest.contains(['=', '"']) || rest.trim().starts_with("output")
}

/// Collects statements into cases.
#[derive(Default)]
struct Reader {
    line: usize,
    /// What holds for all cases; `cases` has the cases themselves.
    common: Case,
    cases: Vec<Case>,
    /// Whether lines beginning with `|` may follow and belong to the last check.
    open: bool,
    seen: bool,
}

impl Reader {
    fn case(&mut self) -> &mut Case {
        self.cases.last_mut().unwrap_or(&mut self.common)
    }

    fn cases(self) -> Vec<Case> {
        if self.cases.is_empty() && self.seen {
            return vec![self.common];
        }
        self.cases
    }

    fn close(&mut self) {
        self.open = false;
    }

    /// Reads a further line of an output or a screen: `| text`.
    fn continue_with(&mut self, comment: &str) {
        let Some(text) = comment.strip_prefix('|').filter(|_| self.open) else {
            self.close();
            return;
        };
        let text = text.strip_prefix(' ').unwrap_or(text);
        match self.case().checks.last_mut() {
            Some(Condition::Output(bytes)) => bytes.extend(text.bytes().chain([b'\n'])),
            Some(Condition::Screen(screen)) => *screen += &format!("{text}\n"),
            _ => {}
        }
    }

    fn mistake<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake { line: self.line, message: message.into() })
    }

    fn read(&mut self, statement: &str) -> Result<(), Mistake> {
        self.close();
        self.seen = true;
        let end = statement.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(statement.len());
        let (word, rest) = statement.split_at(end);
        let rest = rest.strip_prefix(':').unwrap_or(rest).trim();
        match word {
            // A register may have any of these names; then an `=` follows.
            _ if rest.starts_with('=') || rest.starts_with('[') => self.facts(statement),
            "case" => {
                let name = if rest.starts_with('"') { self.text(rest)? } else { rest.into() };
                let name = String::from_utf8_lossy(&name).into_owned();
                self.cases.push(Case { name, ..self.common.clone() });
                Ok(())
            }
            "input" => {
                let text = self.text(rest)?;
                self.case().input.extend(text);
                Ok(())
            }
            "keys" => {
                let keys = rest.trim_matches('"').to_owned();
                if !keys.chars().all(|key| key.is_ascii_hexdigit()) {
                    return self.mistake(format!(
                        "`{keys}` are not keys: write one hexadecimal digit for each, as in `keys 5a5`"
                    ));
                }
                self.case().keys += &keys;
                Ok(())
            }
            "seed" => {
                let seed = self.count(rest)?;
                self.case().seed = Some(seed);
                Ok(())
            }
            "output" | "screen" if rest.is_empty() => {
                self.open = true;
                let check =
                    if word == "output" { Condition::Output(Vec::new()) } else { Condition::Screen(String::new()) };
                self.case().checks.push(check);
                Ok(())
            }
            "output" => self.output(rest),
            "steps" | "cycles" => {
                let Some(most) = rest.strip_prefix("<=") else {
                    return self.mistake(format!("expected `{word} <= NUMBER`, found `{statement}`"));
                };
                let most = self.count(most.trim())?;
                self.case().checks.push(if word == "steps" { Condition::Steps(most) } else { Condition::Cycles(most) });
                Ok(())
            }
            "ends" => self.ends(rest),
            _ => self.mistake(format!(
                "`{statement}` is not an expectation; they are written `output \"text\"`, `a = 5`, `ram[0x80] = 1, 2`, \
                 `steps <= 1000`, `cycles <= 1000`, `ends fault`, `input \"text\"`, `case NAME`"
            )),
        }
    }

    fn output(&mut self, rest: &str) -> Result<(), Mistake> {
        if let Some(part) = rest.strip_prefix("contains ") {
            let part = self.text(part.trim())?;
            self.case().checks.push(Condition::Contains(part));
            return Ok(());
        }
        let text = self.text(rest)?;
        match self.case().checks.last_mut() {
            // Consecutive lines form one text.
            Some(Condition::Output(before)) => before.extend(text),
            _ => self.case().checks.push(Condition::Output(text)),
        }
        Ok(())
    }

    fn ends(&mut self, rest: &str) -> Result<(), Mistake> {
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let ending = match word {
            "halted" => Ending::Halted,
            "stuck" => Ending::Stuck,
            "fault" => Ending::Fault,
            "limit" => Ending::Limit,
            _ => return self.mistake(format!("a run ends `halted`, `stuck`, `fault` or `limit`, not `{word}`")),
        };
        let text = if rest.trim().is_empty() { Vec::new() } else { self.text(rest.trim())? };
        self.case().checks.push(Condition::Ends(ending, String::from_utf8_lossy(&text).into_owned()));
        Ok(())
    }

    /// Parses `a = 5, ram[0x80] = 1, 2, 3`: a piece without `=` belongs to the one before it.
    fn facts(&mut self, statement: &str) -> Result<(), Mistake> {
        for piece in pieces(statement) {
            let Some((place, value)) = piece.split_once('=') else {
                let value = self.number(piece)?;
                match self.case().checks.last_mut() {
                    Some(Condition::Cells { values, .. }) => values.push(value),
                    _ => return self.mistake(format!("`{piece}` stands alone: one register has one value")),
                }
                continue;
            };
            let (place, value) = (place.trim(), value.trim());
            let check = match place.split_once('[') {
                None => Condition::Register(place.to_owned(), self.number(value)?),
                Some((memory, address)) => {
                    let address = self.number(address.trim_end_matches(']').trim())?;
                    let values = if value.starts_with('"') {
                        self.text(value)?.into_iter().map(|byte| Number::Value(byte.into())).collect()
                    } else {
                        value.split_whitespace().map(|value| self.number(value)).collect::<Result<_, _>>()?
                    };
                    Condition::Cells { memory: memory.trim().to_owned(), address, values }
                }
            };
            self.case().checks.push(check);
        }
        Ok(())
    }

    fn count(&self, text: &str) -> Result<u64, Mistake> {
        crate::arguments::number(text).or_else(|error| self.mistake(format!("`{text}` is {error}")))
    }

    /// Parses a number, a character, or a name with or without a distance: `table + 4`.
    fn number(&self, text: &str) -> Result<Number, Mistake> {
        let text = text.trim();
        let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
        if let Ok(number) = crate::arguments::number(digits) {
            return Ok(Number::Value(sign * i128::from(number)));
        }
        if let Some(character) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            let bytes = self.text(&format!("\"{character}\""))?;
            if let [byte] = bytes.as_slice() {
                return Ok(Number::Value((*byte).into()));
            }
        }
        let (name, distance) = match text.split_once('+') {
            Some((name, distance)) => (name.trim(), self.count(distance.trim())?),
            None => (text, 0),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return self.mistake(format!("`{text}` is neither a number nor a name of the program"));
        }
        Ok(Number::Label(name.to_owned(), distance.into()))
    }

    /// Parses a quoted text with the usual escapes.
    fn text(&self, text: &str) -> Result<Vec<u8>, Mistake> {
        let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| text.len() >= 2);
        let Some(inner) = inner else {
            return self.mistake(format!("expected a text in quotes, found `{text}`"));
        };
        let mut bytes = Vec::new();
        let mut characters = inner.chars();
        while let Some(character) = characters.next() {
            if character != '\\' {
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            match characters.next() {
                Some('n') => bytes.push(b'\n'),
                Some('r') => bytes.push(b'\r'),
                Some('t') => bytes.push(b'\t'),
                Some('0') => bytes.push(0),
                Some('x') => {
                    let digits: String = characters.by_ref().take(2).collect();
                    match u8::from_str_radix(&digits, 16) {
                        Ok(byte) if digits.len() == 2 => bytes.push(byte),
                        _ => return self.mistake(format!("`\\x{digits}` needs two hexadecimal digits")),
                    }
                }
                Some(other @ ('\\' | '"' | '\'')) => bytes.push(other as u8),
                other => {
                    let shown = other.map(String::from).unwrap_or_default();
                    return self
                        .mistake(format!("there is no escape `\\{shown}`; use \\n \\r \\t \\0 \\xNN \\\\ \\\""));
                }
            }
        }
        Ok(bytes)
    }
}

/// Splits a statement at its commas, except for those in quotes.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                pieces.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(text: &str) -> Vec<Condition> {
        let cases = of_source(text).unwrap();
        assert_eq!(cases.len(), 1, "{cases:?}");
        cases[0].checks.clone()
    }

    fn value(value: i128) -> Number {
        Number::Value(value)
    }

    #[test]
    fn comments_of_every_kind_say_what_is_expected() {
        for mark in [";", "#", "//", ";;", "  ;"] {
            let text = format!("nop\n{mark} expect: output \"a\\n\"\nhalt ; expect: this is prose after code\n");
            assert_eq!(checks(&text), [Condition::Output(b"a\n".to_vec())], "{mark}");
        }
        assert_eq!(of_source("; expected results follow\n; expects nothing\n; we expect a = 5\nnop"), Ok(Vec::new()));
        assert_eq!(checks("; expect a = 5"), [Condition::Register("a".into(), value(5))]);
    }

    #[test]
    fn registers_cells_and_labels() {
        let text = "; expect: a = -1, ram[0x80] = 1, 2, 3, sp = 'x'\n; expect: ram[table + 2] = \"hi\"\n; expect: data[0]=1 2\n";
        let cells = |memory: &str, address, values| Condition::Cells { memory: memory.into(), address, values };
        let wanted = [
            Condition::Register("a".into(), value(-1)),
            cells("ram", value(0x80), vec![value(1), value(2), value(3)]),
            Condition::Register("sp".into(), value(120)),
            cells("ram", Number::Label("table".into(), 2), vec![value(104), value(105)]),
            cells("data", value(0), vec![value(1), value(2)]),
        ];
        assert_eq!(checks(text), wanted);
    }

    #[test]
    fn a_text_of_many_lines_is_written_with_bars() {
        let text = "; expect: output\n; | one\n; |  two\n; |\n; not this\n; | nor this\n; expect: steps <= 1_000\n";
        assert_eq!(checks(text), [Condition::Output(b"one\n two\n\n".to_vec()), Condition::Steps(1000)]);
        assert_eq!(
            checks("; expect: output \"1\\n\"\n; expect: output \"2\\n\""),
            [Condition::Output(b"1\n2\n".to_vec())]
        );
    }

    #[test]
    fn cases_share_what_stands_before_them() {
        let cases =
            of_file("steps <= 9\ncase one\ninput \"1\"\noutput \"2\"\n\ncase \"the other\"\nends fault \"div\"\n")
                .unwrap();
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["one", "the other"]);
        assert_eq!(cases[0].checks, [Condition::Steps(9), Condition::Output(b"2".to_vec())]);
        assert_eq!(cases[1].checks, [Condition::Steps(9), Condition::Ends(Ending::Fault, "div".into())]);
        assert_eq!((cases[0].input.as_slice(), cases[1].input.as_slice()), (&b"1"[..], &b""[..]));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_its_line() {
        for (text, part) in [
            ("; expect: outptu \"x\"", "is not an expectation"),
            ("\n; expect: output x", "line 2: expected a text in quotes"),
            ("; expect: output \"\\q\"", "no escape `\\q`"),
            ("; expect: a = ", "neither a number nor a name"),
            ("; expect: a = 1, 2", "one register has one value"),
            ("; expect: steps < 5", "`steps <= NUMBER`"),
            ("; expect: ends well", "`halted`, `stuck`, `fault` or `limit`"),
            ("; keys: xyz", "one hexadecimal digit"),
        ] {
            let mistake = of_source(text).expect_err(text).to_string();
            assert!(mistake.contains(part), "{text}: {mistake}");
        }
    }
}
