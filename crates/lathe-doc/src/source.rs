//! What only the text of a definition knows: how rows, functions and maps are written, and which rows
//! stand together.

use lathe_base::{Diagnostics, FileId};
use lathe_isa::language::ast::{Definition, Family, Item, Order, Row};
use lathe_isa::language::lexer::number;

use crate::bits::Word;

/// The text of a definition, and its tree.
pub(crate) struct Text<'s> {
    text: &'s str,
    definition: Definition,
}

/// A row as its author wrote it.
pub(crate) struct WrittenRow<'s> {
    pub(crate) syntax: String,
    pub(crate) picture: String,
    pub(crate) condition: String,
    pub(crate) meaning: String,
    /// How wide the words of its picture are, if they are not cells.
    pub(crate) word: Option<Word>,
    /// Whether an empty line stands before it.
    pub(crate) begins_group: bool,
    /// The families that it names.
    pub(crate) families: Vec<&'s Family>,
}

/// A row of a map as its author wrote it.
pub(crate) struct WrittenMapping {
    /// The first address, if it is a plain number.
    pub(crate) first: Option<u64>,
    pub(crate) read: String,
    pub(crate) write: String,
}

impl<'s> Text<'s> {
    pub(crate) fn new(text: &'s str) -> Text<'s> {
        let definition = lathe_isa::language::parse(FileId(0), text, &mut Diagnostics::default());
        Text { text, definition }
    }

    /// The rows of all tables of instructions, in order.
    pub(crate) fn rows(&self) -> Vec<WrittenRow<'_>> {
        let mut rows = Vec::new();
        for item in &self.definition.items {
            let Item::Instructions(table) = item else { continue };
            let word = table.unit.as_ref().and_then(|(ty, order)| {
                let bits = self.text.get(ty.span.range())?.trim_start_matches(['u', 's']).parse().ok()?;
                Some(Word { bits, little: *order == Some(Order::Little) })
            });
            rows.extend(table.rows.iter().enumerate().map(|(at, row)| self.row(row, word, at == 0)));
        }
        rows
    }

    fn row(&self, row: &Row, word: Option<Word>, is_first: bool) -> WrittenRow<'_> {
        let whole = self.text.get(..row.span.end as usize).unwrap_or(self.text);
        let rest = whole.get(row.picture.span.end as usize..).unwrap_or("");
        let (condition, mut meaning) = rest.split_once('|').unwrap_or((rest, ""));
        if row.cycles.is_some() {
            meaning = meaning.split_once('|').map_or("", |(_, meaning)| meaning);
        }
        let names = |family: &&Family| row.syntax.text.contains(&format!("{{{}}}", family.name.text));
        WrittenRow {
            syntax: row.syntax.text.clone(),
            picture: row.picture.text.clone(),
            condition: condition.trim().to_owned(),
            meaning: outdented(without_comments(meaning).trim()),
            word,
            begins_group: is_first || self.blank_before(row.span.start as usize),
            families: self.families().filter(names).collect(),
        }
    }

    fn blank_before(&self, at: usize) -> bool {
        let before = &self.text[..at];
        let mut lines = before.lines().rev().map(str::trim).skip_while(|line| line.starts_with('#'));
        // The first is what stands before the row on its own line.
        let own = !before.ends_with('\n');
        if own {
            lines.next();
        }
        lines.find(|line| !line.starts_with('#')).is_some_and(str::is_empty)
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = &Family> {
        self.definition
            .items
            .iter()
            .filter_map(|item| if let Item::Family(family) = item { Some(family) } else { None })
    }

    /// What a member of a family does, as written.
    pub(crate) fn member(&self, family: &Family, name: &str) -> Option<String> {
        let member = family.members.iter().find(|member| member.name.text == name)?;
        let rest = self.text.get(member.name.span.end as usize..)?;
        let (_, rest) = rest.split_once('=')?;
        Some(without_comments(&block(rest)).trim().to_owned())
    }

    /// The functions, as written.
    pub(crate) fn functions(&self) -> Vec<String> {
        let names = self.definition.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(&function.name),
            _ => None,
        });
        names
            .filter_map(|name| {
                let start = self.text[..name.span.start as usize].rfind("fn")?;
                Some(without_comments(&block(&self.text[start..])))
            })
            .collect()
    }

    /// `on illegal` and `on step`, as written.
    pub(crate) fn hooks(&self) -> Vec<String> {
        let spans = self.definition.items.iter().filter_map(|item| match item {
            Item::OnIllegal(span, ..) => Some(*span),
            Item::OnStep(hook) => Some(hook.span),
            _ => None,
        });
        spans.map(|span| without_comments(&block(&self.text[span.start as usize..]))).collect()
    }

    /// The rows of all maps.
    pub(crate) fn maps(&self) -> Vec<WrittenMapping> {
        let rows = self.definition.items.iter().flat_map(|item| match item {
            Item::Map(map) => map.rows.as_slice(),
            _ => &[],
        });
        rows.map(|row| {
            let whole = self.at(row.span);
            let mut columns = whole.splitn(3, '|').skip(1).map(|column| without_comments(column).trim().to_owned());
            let mut column = || columns.next().unwrap_or_default();
            WrittenMapping { first: number(self.at(row.first.span)), read: column(), write: column() }
        })
        .collect()
    }

    /// The pseudo-instructions, as written: their syntax, and what they stand for.
    pub(crate) fn pseudos(&self) -> Vec<(String, Vec<String>)> {
        let items = self.definition.items.iter().flat_map(|item| match item {
            Item::Pseudos(pseudos) => pseudos.as_slice(),
            _ => &[],
        });
        items
            .map(|pseudo| (pseudo.syntax.text.clone(), pseudo.expansion.iter().map(|part| part.text.clone()).collect()))
            .collect()
    }

    /// A place in the text, as written.
    pub(crate) fn at(&self, span: lathe_base::Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// What stands after the `:` of an example that begins here with this instruction. In the instruction a
    /// `#` is no comment.
    pub(crate) fn facts(&self, at: usize, instruction: &str) -> String {
        let line = self.text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let rest = line.strip_prefix(instruction).unwrap_or(line);
        without_comments(rest.split_once(':').map_or("", |(_, facts)| facts)).trim().to_owned()
    }
}

/// A text up to the end of its line, or of the braces that its line opens.
fn block(text: &str) -> String {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '\n' if depth <= 0 => return text[..at].to_owned(),
            _ => {}
        }
        if depth < 0 {
            return text[..at].to_owned();
        }
    }
    text.to_owned()
}

fn without_comments(text: &str) -> String {
    let cut = |line: &str| {
        let mut quoted = false;
        let end = line.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '#' && !quoted
        });
        line[..end.map_or(line.len(), |(at, _)| at)].trim_end().to_owned()
    };
    let lines: Vec<String> = text.lines().map(cut).collect();
    let kept =
        lines.iter().enumerate().filter(|(at, line)| *at == 0 || !line.is_empty()).map(|(_, line)| line.as_str());
    kept.collect::<Vec<_>>().join("\n")
}

/// Lines after the first moved left as far as the leftmost of them.
fn outdented(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(at, line)| if at == 0 { line } else { line.get(least..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}
