//! Meanings of rows, kept from one reading of a definition to the next: while somebody types, nearly all rows stay as
//! they were, and working out what they mean is most of the work.
//!
//! A row means what it meant if its text is the same, and everything that it can name is declared in the same way and in
//! the same place. Only meanings without findings are kept, so nothing has to be reported again; and where a `skip`
//! may depend on the lengths of other rows, nothing is kept.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use lathe_base::{Diagnostics, Span};

use super::Declarations;
use super::rows::Draft;
use crate::language::ast::{Definition, Item};
use crate::semantics::Body;

/// What the rows of a definition meant when it was last read.
#[derive(Debug, Default)]
pub struct KnownMeanings {
    /// Everything that is declared, and where.
    declared: u64,
    rows: BTreeMap<String, Rc<KnownRow>>,
}

#[derive(Debug)]
struct KnownRow {
    /// Where it was.
    place: Span,
    /// The meaning of each of its instructions, and how many parts that had on the way.
    meanings: Vec<(Body, usize)>,
    /// The names that it uses, and where.
    uses: Vec<(Span, String)>,
}

/// The meanings that are known, while new ones are worked out.
pub(super) struct Recall<'d, 'a> {
    declarations: &'d Declarations<'a>,
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
    meanings: Vec<(Body, usize)>,
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
        let known = known.filter(|_| !declarations.texts.iter().any(|text| text.contains("skip")));
        let known = known.map(|known| {
            let declared = digest(definition);
            if known.declared != declared {
                *known = KnownMeanings { declared, ..KnownMeanings::default() };
            }
            known
        });
        Recall { declarations, known, rows: BTreeMap::new(), row: None }
    }

    /// The meaning of the next instruction of a row: as it is known, or else as it is worked out.
    pub(super) fn meaning(
        &mut self,
        draft: &Draft,
        diagnostics: &mut Diagnostics,
        work_out: impl FnOnce(&mut Diagnostics) -> Option<Body>,
    ) -> Option<Body> {
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
            return Some(body.clone());
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
            Some(known) => known.uses.iter().for_each(|(span, name)| {
                self.declarations.names.find(name, moved(*span, known.place, place));
            }),
            None => self.declarations.names.begin_log(),
        }
        let (number, meanings) = (draft.number, Vec::new());
        self.row = Some(Row { number, key, known, place, meanings, count: 0, is_sound: true });
    }

    /// Keeps the row that has been worked out.
    fn end_row(&mut self) {
        let Some(row) = self.row.take() else { return };
        let uses = self.declarations.names.end_log();
        let known = row
            .known
            .or_else(|| row.is_sound.then(|| Rc::new(KnownRow { place: row.place, meanings: row.meanings, uses })));
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

/// A place in a row that is elsewhere now. What it names in declarations is where it was.
fn moved(span: Span, from: Span, to: Span) -> Span {
    if span.file != from.file || span.start < from.start || from.end < span.end {
        return span;
    }
    let start = to.start + (span.start - from.start);
    Span { start, end: start + (span.end - span.start), ..to }
}

/// A number for everything that is declared, and where: all but rows.
fn digest(definition: &Definition) -> u64 {
    struct Digest(DefaultHasher);
    impl Write for Digest {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut digest = Digest(DefaultHasher::new());
    for item in &definition.items {
        if !matches!(item, Item::Instructions(_) | Item::Pseudos(_) | Item::Examples(_)) {
            // It cannot fail: the digest takes everything.
            let _ = write!(digest, "{item:?}");
        }
    }
    digest.0.finish()
}
