//! The results of all tests: for people, as a table, and in formats for other programs.

use anstyle::AnsiColor;
use serde::Serialize;

use super::job::{CaseTested, Tested, Verdict};
use crate::arguments::TestFormat;
use crate::exit::Failure;
use crate::output;
use crate::render::{bold, count, dim, mark};

/// All results, in order.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) errors: usize,
    pub(super) skipped: usize,
    pub(super) programs: Vec<Tested>,
}

impl Results {
    pub(super) fn new(programs: Vec<Tested>) -> Results {
        let count = |verdict| programs.iter().filter(|tested| tested.verdict == verdict).count();
        Results {
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            errors: count(Verdict::Error),
            skipped: count(Verdict::Skipped),
            programs,
        }
    }

    /// Whether something was tested, and nothing failed.
    pub(super) fn is_good(&self) -> bool {
        self.failed == 0 && self.errors == 0 && self.passed > 0
    }

    /// Renders the results as one document in a format.
    pub(super) fn document(&self, format: TestFormat) -> Result<String, Failure> {
        match format {
            TestFormat::Text => Ok(self.table() + &self.summary()),
            TestFormat::Json => output::json(self),
            TestFormat::Junit => Ok(self.junit()),
            TestFormat::Csv => Ok(self.csv()),
        }
    }

    /// Returns the last line for people.
    pub(super) fn summary(&self) -> String {
        let counts =
            [(self.failed, "failed"), (self.errors, "could not be run"), (self.skipped, "without expectations")];
        let others: String = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}")).collect();
        format!("{} passed{others}\n", self.passed)
    }

    /// Renders one line per program, for graders.
    pub(super) fn table(&self) -> String {
        let rows: Vec<[String; 5]> = self.programs.iter().map(row).collect();
        let head = ["program", "result", "cases", "steps", "note"].map(str::to_owned);
        let width =
            |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        let line = |row: &[String; 5]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
            format!("{}{}", cells.collect::<String>(), row[4]).trim_end().to_owned() + "\n"
        };
        bold(line(&head).trim_end()) + "\n" + &rows.iter().map(line).collect::<String>() + "\n"
    }

    fn csv(&self) -> String {
        let head = "program,machine,result,cases passed,cases,steps,cycles,note\n".to_owned();
        let line = |tested: &Tested| {
            let cycles: Option<u64> = tested.cases.iter().map(|case| case.cycles).sum();
            let fields = [
                tested.program.clone(),
                tested.machine.clone().unwrap_or_default(),
                word(tested.verdict).to_owned(),
                passed(tested).to_string(),
                tested.cases.len().to_string(),
                tested.steps().to_string(),
                cycles.filter(|_| !tested.cases.is_empty()).map(|cycles| cycles.to_string()).unwrap_or_default(),
                note(tested),
            ];
            fields.map(|field| csv_field(&field)).join(",") + "\n"
        };
        head + &self.programs.iter().map(line).collect::<String>()
    }

    /// Renders JUnit's XML, which CI servers read: a suite for each program, a case for each case.
    fn junit(&self) -> String {
        let tests: usize = self.programs.iter().map(|tested| tested.cases.len().max(1)).sum();
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        let suites: String = self.programs.iter().map(suite).collect();
        let bad = self.failed + self.errors;
        format!("{head}<testsuites name=\"lathe test\" tests=\"{tests}\" failures=\"{bad}\">\n{suites}</testsuites>\n")
    }
}

/// Renders one program for people: what is wrong with it, or that it passed.
pub(super) fn lines(tested: &Tested) -> String {
    let sign = match tested.verdict {
        Verdict::Passed => mark("ok   ", AnsiColor::Green),
        Verdict::Failed => mark("FAIL ", AnsiColor::BrightRed),
        Verdict::Error => mark("ERROR", AnsiColor::BrightRed),
        Verdict::Skipped => return String::new(),
    };
    let cases = if tested.cases.len() > 1 { format!("{}, ", count(tested.cases.len(), "case")) } else { String::new() };
    let steps = if tested.cases.is_empty() {
        String::new()
    } else {
        format!("  {cases}{}", count(tested.steps() as usize, "step"))
    };
    let mut text = format!("{sign} {}{}\n", tested.program, dim(&steps));
    text.extend(tested.errors.iter().map(|error| indented(error)));
    for case in tested.cases.iter().filter(|case| case.verdict != Verdict::Passed) {
        if !case.name.is_empty() {
            text += &indented(&format!("case {}:", case.name));
        }
        text.extend(case.differences.iter().map(|difference| indented(difference)));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("      {}\n", coloured(line))).collect()
}

fn coloured(line: &str) -> String {
    match line.trim_start().chars().next() {
        Some('-') => mark(line, AnsiColor::Red),
        Some('+') => mark(line, AnsiColor::Green),
        _ => line.to_owned(),
    }
}

fn passed(tested: &Tested) -> usize {
    tested.cases.iter().filter(|case| case.verdict == Verdict::Passed).count()
}

fn row(tested: &Tested) -> [String; 5] {
    let cases =
        if tested.cases.is_empty() { String::new() } else { format!("{}/{}", passed(tested), tested.cases.len()) };
    [tested.program.clone(), word(tested.verdict).to_owned(), cases, tested.steps().to_string(), note(tested)]
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Error => "error",
        Verdict::Skipped => "skipped",
    }
}

/// Returns the first problem on one line.
fn note(tested: &Tested) -> String {
    let failed = tested.cases.iter().find(|case| case.verdict != Verdict::Passed);
    let of_case = |case: &CaseTested| {
        let difference = case.differences.first().and_then(|text| text.lines().next()).unwrap_or("");
        let difference = difference.trim_end_matches(':');
        if case.name.is_empty() { difference.to_owned() } else { format!("{}: {difference}", case.name) }
    };
    tested.errors.first().cloned().or_else(|| failed.map(of_case)).unwrap_or_default()
}

/// Quotes a field where needed. A spreadsheet takes a field that begins with one of these characters for a formula, and
/// other people choose the names of files.
fn csv_field(field: &str) -> String {
    let guarded = if field.starts_with(['=', '+', '-', '@']) { format!("'{field}") } else { field.to_owned() };
    if guarded.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", guarded.replace('"', "\"\"")) } else { guarded }
}

fn suite(tested: &Tested) -> String {
    let program = xml(&tested.program);
    let case = |name: &str, inner: String| {
        format!(
            "    <testcase classname=\"{program}\" name=\"{}\" time=\"{:.3}\">{inner}</testcase>\n",
            xml(name),
            tested.seconds
        )
    };
    let failure = |what: &str, text: &str| {
        let first = text.lines().next().unwrap_or("");
        format!("<{what} message=\"{}\">{}</{what}>", xml(first), xml(text))
    };
    let of_case = |one: &CaseTested| {
        let name = if one.name.is_empty() { "run" } else { &one.name };
        let is_good = one.verdict == Verdict::Passed;
        case(name, if is_good { String::new() } else { failure("failure", &one.differences.join("\n")) })
    };
    let cases = match tested.verdict {
        Verdict::Skipped => case("run", "<skipped/>".to_owned()),
        Verdict::Error if tested.cases.is_empty() => case("run", failure("error", &tested.errors.join("\n"))),
        _ => tested.cases.iter().map(of_case).collect(),
    };
    format!("  <testsuite name=\"{program}\">\n{cases}  </testsuite>\n")
}

/// Escapes a text for XML, which cannot represent most control characters at all.
fn xml(text: &str) -> String {
    let character = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\n' | '\t' => c.to_string(),
        c if c.is_control() || ('\u{FFFE}'..='\u{FFFF}').contains(&c) => "?".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_name_does_no_harm_in_a_spreadsheet_or_in_xml() {
        assert_eq!(csv_field("=cmd()"), "'=cmd()");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(xml("<a & \"b\">\u{1b}[0m"), "&lt;a &amp; &quot;b&quot;&gt;?[0m");
    }
}
