//! Meanings of rows, kept from one reading of a definition to the next: while somebody types, nearly all rows stay as
//! they were, and working out what they mean is most of the work.
//!
//! A row means what it meant if its text is the same, and the text of everything that is declared, comments left out. Where
//! they stand does not matter: nothing in a meaning is a place, and the places where a row names something are counted from
//! the row, or from the line of a declaration that it uses. Only meanings without findings are kept, so nothing has to be reported again; and
//! where a `skip` may depend on the lengths of other rows, nothing is kept.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use lathe_base::{Diagnostics, Span};

use super::Declarations;
use super::rows::Draft;
use crate::language::ast::Definition;
use crate::semantics::Body;

/// What the rows of a definition meant when it was last read.
#[derive(Debug, Default)]
pub struct KnownMeanings {
    /// The text of everything that is declared.
    declared: u64,
    rows: BTreeMap<String, Rc<KnownRow>>,
}

#[derive(Debug)]
struct KnownRow {
    /// The meaning of each of its instructions, and how many parts that had on the way.
    meanings: Vec<(Arc<Body>, usize)>,
    uses: Vec<Use>,
}

/// A name that a row uses.
#[derive(Debug)]
struct Use {
    name: String,
    /// The line of a declaration that it stands in, by its number; if it is none, it stands in the row itself.
    line: Option<usize>,
    /// Where it begins, counted from there, and its length.
    start: u32,
    length: u32,
}

/// The meanings that are known, while new ones are worked out.
pub(super) struct Recall<'d, 'a> {
    declarations: &'d Declarations<'a>,
    /// The lines of everything that is declared.
    lines: Vec<Span>,
    known: Option<&'d mut KnownMeanings>,
    rows: BTreeMap<String, Rc<KnownRow>>,
    row: Option<Row>,
}

/// A row being worked out.
struct Row {
    number: u32,
    key: String,
    known: Option<Rc<KnownRow>>,
    /// What it means, as far as it has been worked out.
    place: Span,
    meanings: Vec<(Arc<Body>, usize)>,
    /// How many of its instructions there have been.
    count: usize,
    /// Whether nothing was wrong so far.
    is_sound: bool,
}

impl<'d, 'a> Recall<'d, 'a> {
    pub(super) fn new(
        declarations: &'d Declarations<'a>,
        definition: &Definition,
        known: Option<&'d mut KnownMeanings>,
    ) -> Recall<'d, 'a> {
        let mut recall = Recall { declarations, lines: Vec::new(), known: None, rows: BTreeMap::new(), row: None };
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

    /// The meaning of the next instruction of a row: as it is known, or else as it is worked out.
    pub(super) fn meaning(
        &mut self,
        draft: &Draft,
        diagnostics: &mut Diagnostics,
        work_out: impl FnOnce(&mut Diagnostics) -> Option<Body>,
    ) -> Option<Arc<Body>> {
        let work_out = |diagnostics: &mut Diagnostics| work_out(diagnostics).map(Arc::new);
        if self.known.is_none() {
            return work_out(diagnostics);
        }
        if self.row.as_ref().is_none_or(|row| row.number != draft.number) {
            self.end_row();
            self.begin_row(draft);
        }
        let nodes = &self.declarations.nodes;
        let Some(row) = &mut self.row else { return work_out(diagnostics) };
        row.count += 1;
        if let Some((body, parts)) = row.known.as_ref().and_then(|known| known.meanings.get(row.count - 1)) {
            nodes.set(nodes.get() + parts);
            return Some(Arc::clone(body));
        }
        let (before, findings) = (nodes.get(), diagnostics.len());
        let body = work_out(diagnostics);
        row.is_sound &= body.is_some() && diagnostics.len() == findings && !diagnostics.is_full();
        row.meanings.extend(body.clone().filter(|_| row.is_sound).map(|body| (body, nodes.get() - before)));
        body
    }

    fn begin_row(&mut self, draft: &Draft) {
        let place = draft.row.span;
        let text = self.declarations.text(place.file).get(place.range()).unwrap_or("");
        let key = format!("{text}\n{}", draft.table);
        let known = self.known.as_ref().and_then(|known| known.rows.get(&key)).or(self.rows.get(&key)).cloned();
        match &known {
            Some(known) => known.uses.iter().for_each(|used| {
                self.declarations.names.find(&used.name, used.place(place, &self.lines));
            }),
            None => self.declarations.names.begin_log(),
        }
        let (number, meanings) = (draft.number, Vec::new());
        self.row = Some(Row { number, key, known, place, meanings, count: 0, is_sound: true });
    }

    /// Keeps the row that has been worked out.
    fn end_row(&mut self) {
        let Some(row) = self.row.take() else { return };
        let found = self.declarations.names.end_log();
        let made = || {
            let uses = found.into_iter().map(|(span, name)| Use::new(span, name, row.place, &self.lines));
            Some(Rc::new(KnownRow { meanings: row.meanings, uses: uses.collect::<Option<_>>()? }))
        };
        let known = row.known.or_else(|| if row.is_sound { made() } else { None });
        if let Some(known) = known {
            self.rows.insert(row.key, known);
        }
    }

    /// Keeps what is known now for the next time.
    pub(super) fn end(mut self) {
        self.end_row();
        if let Some(known) = self.known {
            known.rows = self.rows;
        }
    }
}

impl Use {
    /// A name at a place in a row, or in a declaration that the row uses.
    fn new(span: Span, name: String, row: Span, lines: &[Span]) -> Option<Use> {
        let is_in = |outer: &Span| outer.file == span.file && outer.start <= span.start && span.end <= outer.end;
        let line = if is_in(&row) { None } else { Some(lines.iter().position(is_in)?) };
        let from = line.map_or(row, |at| lines[at]);
        Some(Use { name, line, start: span.start - from.start, length: span.end - span.start })
    }

    /// Where it is now.
    fn place(&self, row: Span, lines: &[Span]) -> Span {
        let from = self.line.and_then(|at| lines.get(at)).copied().unwrap_or(row);
        let start = from.start + self.start;
        Span { start, end: start + self.length, ..from }
    }
}

/// The lines of a declaration that say something, without the comments after them. A `#` is taken for one only where it
/// cannot be anything else: before a blank or another `#`, on a line without a quotation mark.
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

/// A number for the text of everything that is declared. The files tell in which order: one is read where another
/// names it.
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

    /// Reads an edited text with what is known of the first; how many rows were known. It is as if nothing were.
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
        // Comments inside of a declaration move what comes after them.
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
        // The same declarations in another order.
        let view = "view v = a[3:0]\n";
        let (start, end) = TEXT.split_once("instructions").unwrap();
        assert_eq!(known_after(&format!("{start}{view}instructions{end}")), 0);
    }
}
