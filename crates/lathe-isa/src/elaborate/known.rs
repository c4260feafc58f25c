//! Rows kept from one reading of a definition to the next: while somebody types, nearly all rows stay the same, and
//! elaborating them is most of the work.
//!
//! A row is unchanged if its text is the same and so is the text of all declarations, comments left out. Where they
//! stand does not matter: nothing in a meaning is a place, and the places where a row names something are counted from
//! the row, or from the line of a declaration that it uses. Fields made for rows get their numbers from the rows
//! before, so these are compared. Only rows without findings are kept, so nothing has to be reported again; and where a
//! `skip` may depend on the lengths of other rows, nothing is kept.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use lathe_base::{Diagnostics, Span};

use super::Declarations;
use super::modes::MadeField;
use crate::language::ast::{self, Definition};
use crate::model::{FieldId, Instruction};

/// What the last reading of a definition found out about its rows.
#[derive(Debug, Default)]
pub struct KnownMeanings {
    /// A digest of the text of all declarations.
    declared: u64,
    rows: BTreeMap<String, Rc<KnownRow>>,
}

/// What is known about a row.
#[derive(Debug)]
pub(crate) struct KnownRow {
    /// Its instructions, without what depends on the row's position, and how many parts the meaning of each had on the
    /// way.
    pub(super) instructions: Vec<(Instruction, usize)>,
    /// How many choices of modes and prefixes it has.
    pub(super) choices: usize,
    /// The fields that it needs, made for it or for an earlier row.
    fields: Vec<(MadeField, FieldId)>,
    /// How much of the effort to tell rows apart it took.
    effort: usize,
    uses: Vec<Use>,
}

/// A name that a row uses.
#[derive(Debug)]
struct Use {
    name: String,
    /// The number of the line, among those of the declarations, that contains the name; if none, the row itself
    /// contains it.
    line: Option<usize>,
    /// Where the name begins, counted from the start of that line or row, and its length.
    start: u32,
    length: u32,
}

/// The known rows, while the others are elaborated.
pub(super) struct Recall<'k> {
    /// The lines of all declarations.
    lines: Vec<Span>,
    known: Option<&'k mut KnownMeanings>,
    rows: BTreeMap<String, Rc<KnownRow>>,
    /// Whether any known row has been used.
    pub(super) is_used: bool,
}

/// What has been noted about a row while it is elaborated, to be kept for the next time.
pub(super) struct Noted {
    key: String,
    place: Span,
    found: Vec<(Span, String)>,
    fields: Vec<(MadeField, FieldId)>,
    effort: usize,
}

/// The state before a part of a row is elaborated.
pub(super) struct Before {
    findings: usize,
    effort: usize,
    rows_lost: bool,
}

impl<'k> Recall<'k> {
    pub(super) fn new(
        declarations: &Declarations,
        definition: &Definition,
        known: Option<&'k mut KnownMeanings>,
    ) -> Recall<'k> {
        let mut recall = Recall { lines: Vec::new(), known: None, rows: BTreeMap::new(), is_used: false };
        let known = known.filter(|_| !declarations.texts.iter().any(|text| text.contains("skip")));
        if let Some(known) = known {
            recall.lines = definition.declared.iter().flat_map(|place| lines(declarations, *place)).collect();
            let declared = digest(declarations, &recall.lines);
            if known.declared != declared {
                *known = KnownMeanings { declared, ..KnownMeanings::default() };
            }
            recall.known = Some(known);
        }
        recall
    }

    /// Returns a row of a table with this head, if it is known.
    pub(super) fn row(&mut self, declarations: &mut Declarations, row: &ast::Row, table: &str) -> Option<Rc<KnownRow>> {
        let key = key(declarations, row.span, table);
        let known = Rc::clone(self.known.as_ref()?.rows.get(&key)?);
        let effort = declarations.effort.get().checked_sub(known.effort)?;
        for (field, id) in &known.fields {
            // A field that cannot be made will be reported when the row is elaborated.
            if declarations.make_field(*field, &mut Diagnostics::default()) != Some(*id) {
                return None;
            }
        }
        declarations.effort.set(effort);
        for used in &known.uses {
            declarations.names.find(&used.name, used.place(row.span, &self.lines));
        }
        self.is_used = true;
        self.rows.insert(key, Rc::clone(&known));
        Some(known)
    }

    /// Begins to note what a part of a row needs; returns nothing if nothing is kept.
    pub(super) fn begin(&self, declarations: &mut Declarations, diagnostics: &Diagnostics) -> Option<Before> {
        self.known.as_ref()?;
        declarations.made_fields = Some(Vec::new());
        Some(Before::now(declarations, diagnostics))
    }

    /// Ends what `begin` began: returns the notes about the row if nothing was wrong.
    pub(super) fn noted(
        declarations: &mut Declarations,
        before: Before,
        row: &ast::Row,
        table: &str,
        diagnostics: &Diagnostics,
    ) -> Option<Noted> {
        let fields = declarations.made_fields.take().unwrap_or_default();
        let (found, effort) = before.end(declarations, diagnostics)?;
        Some(Noted { key: key(declarations, row.span, table), place: row.span, found, fields, effort })
    }

    /// Keeps an elaborated row, with the names that its meanings used and the effort they took.
    pub(super) fn keep(
        &mut self,
        noted: Noted,
        choices: usize,
        instructions: Vec<(Instruction, usize)>,
        (found, effort): (Vec<(Span, String)>, usize),
    ) {
        let used = noted.found.into_iter().chain(found);
        let uses = used.map(|(span, name)| Use::new(span, name, noted.place, &self.lines)).collect::<Option<_>>();
        let Some(uses) = uses else { return };
        let (fields, effort) = (noted.fields, noted.effort + effort);
        self.rows.insert(noted.key, Rc::new(KnownRow { instructions, choices, fields, effort, uses }));
    }

    /// Keeps the rows known now for the next time.
    pub(super) fn end(self) {
        if let Some(known) = self.known {
            known.rows = self.rows;
        }
    }
}

impl Before {
    /// Begins to take notes.
    pub(super) fn now(declarations: &Declarations, diagnostics: &Diagnostics) -> Before {
        declarations.names.begin_log();
        let (effort, rows_lost) = (declarations.effort.get(), declarations.rows_lost.replace(false));
        Before { findings: diagnostics.len(), effort, rows_lost }
    }

    /// Returns the names found and the effort spent since the start, if nothing was wrong.
    pub(super) fn end(
        self,
        declarations: &Declarations,
        diagnostics: &Diagnostics,
    ) -> Option<(Vec<(Span, String)>, usize)> {
        let found = declarations.names.end_log();
        let lost = declarations.rows_lost.replace(self.rows_lost || declarations.rows_lost.get());
        let is_sound = !lost && diagnostics.len() == self.findings && !diagnostics.is_full();
        is_sound.then(|| (found, self.effort - declarations.effort.get()))
    }
}

/// Makes the key of a row.
fn key(declarations: &Declarations, row: Span, table: &str) -> String {
    let text = declarations.text(row.file).get(row.range()).unwrap_or("");
    format!("{text}\n{table}")
}

impl Use {
    /// Records a name at a place in a row, or in a declaration that the row uses.
    fn new(span: Span, name: String, row: Span, lines: &[Span]) -> Option<Use> {
        let is_in = |outer: &Span| outer.file == span.file && outer.start <= span.start && span.end <= outer.end;
        let line = if is_in(&row) { None } else { Some(lines.iter().position(is_in)?) };
        let from = line.map_or(row, |at| lines[at]);
        Some(Use { name, line, start: span.start - from.start, length: span.end - span.start })
    }

    /// Returns where the name is now.
    fn place(&self, row: Span, lines: &[Span]) -> Span {
        let from = self.line.and_then(|at| lines.get(at)).copied().unwrap_or(row);
        let start = from.start + self.start;
        Span { start, end: start + self.length, ..from }
    }
}

/// Returns the lines of a declaration that are not empty, without the comments after them. A `#` counts as a comment
/// only where it can be nothing else: before a blank or another `#`, on a line without a quotation mark.
fn lines(declarations: &Declarations, declared: Span) -> Vec<Span> {
    let text = declarations.text(declared.file).get(declared.range()).unwrap_or("");
    let mut start = declared.start as usize;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let comment = line.match_indices('#').find(|(at, _)| {
            let begins = line[..*at].ends_with([' ', '\t']) || line[..*at].is_empty();
            begins && line[at + 1..].starts_with([' ', '\t', '#', '\r', '\n']) && !line.contains('"')
        });
        let code = line[..comment.map_or(line.len(), |(at, _)| at)].trim_end();
        if !code.trim_start().is_empty() {
            lines.push(Span::new(declared.file, start, start + code.len()));
        }
        start += line.len();
    }
    lines
}

/// Hashes the text of all declarations. The files give the order: a file is read where another names it.
fn digest(declarations: &Declarations, lines: &[Span]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for place in lines {
        place.file.0.hash(&mut hasher);
        declarations.text(place.file).get(place.range()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use lathe_base::Source;
    use lathe_base::files::MemoryFiles;

    use super::*;
    use crate::{load_known, load_with};

    const TEXT: &str = "machine m \"\"
include \"shared.isa\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b : u8
field R : register { a, b }
fn twice(x: u8) -> u8 { add(x, x) }
instructions {
  inc R | 0000 000R | R = add(R, 1)
  dbl R | 0000 001R | R = twice(R)
}
family OP : u1 (x: u8) -> u8 {
  clr = 0
  inv = ~x ^ b
}
instructions {
  {OP}x R | 0000 010R {OP} 000 0000 | R = OP(R)
}
";

    fn files() -> MemoryFiles {
        let mut files = MemoryFiles::default();
        files.0.insert("shared.isa".into(), b"fn add(x: u8, y: u8) -> u8 { x + y }\n".into());
        files
    }

    /// Reads an edited text with what is known of the first, checks that the result is the same as without, and returns
    /// how many rows were reused.
    fn known_after(edited: &str) -> usize {
        let mut known = KnownMeanings::default();
        let first = load_known(Source::new("m.isa", TEXT), &files(), &mut known);
        assert!(first.isa.is_some() && first.diagnostics.is_empty(), "{:?}", first.diagnostics);
        let before: Vec<Rc<KnownRow>> = known.rows.values().cloned().collect();
        let again = load_known(Source::new("m.isa", edited), &files(), &mut known);
        let fresh = load_with(Source::new("m.isa", edited), &files());
        assert_eq!(format!("{:?}", again.isa), format!("{:?}", fresh.isa));
        assert_eq!(format!("{:?}", again.names), format!("{:?}", fresh.names));
        assert_eq!(again.diagnostics.into_sorted(), fresh.diagnostics.into_sorted());
        known.rows.values().filter(|row| before.iter().any(|known| Rc::ptr_eq(known, row))).count()
    }

    #[test]
    fn what_moved_is_still_known() {
        assert_eq!(known_after(TEXT), 3);
        assert_eq!(known_after(&TEXT.replace("memory", "# a comment\nmemory")), 3);
        assert_eq!(known_after(&TEXT.replace("fn twice", "\n\n## It adds.\nfn twice")), 3);
        // Comments inside a declaration move what comes after them.
        assert_eq!(known_after(&TEXT.replace("clr = 0", "## Nothing.\n  # left\n\n  clr = 0  # all")), 3);
        assert_eq!(known_after(&TEXT.replace("  dbl", "  nop | 1111 1111 |\n  dbl")), 3);
        assert_eq!(known_after(&TEXT.replace("add(R, 1)", "add(R, 2)")), 2);
        // A row that cannot be read leaves the others alone.
        assert_eq!(known_after(&TEXT.replace("R = add(R, 1)", "R = ]")), 2);
        let (start, row) = TEXT.split_once("instructions").unwrap();
        assert_eq!(known_after(&format!("{start}\n\n\ninstructions{row}")), 3);
    }

    #[test]
    fn what_is_declared_otherwise_is_worked_out_again() {
        assert_eq!(known_after(&TEXT.replace("add(x, x)", "add(x, 2)")), 0);
        assert_eq!(known_after(&TEXT.replace("register a, b", "register b, a")), 0);
        assert_eq!(known_after(&TEXT.replace("clr = 0", "clr = 1")), 0);
        assert_eq!(known_after(&TEXT.replace("clr = 0", "clr = { # \n 1 }")), 0);
        assert_eq!(known_after(&TEXT.replace("include \"shared.isa\"", "fn add(x: u8, y: u8) -> u8 { x ^ y }")), 0);
        // The same declarations in a different order.
        let view = "view v = a[3:0]\n";
        let (start, end) = TEXT.split_once("instructions").unwrap();
        assert_eq!(known_after(&format!("{start}{view}instructions{end}")), 0);
    }
}
