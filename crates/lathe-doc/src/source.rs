//! What only the text of a definition knows: how rows, functions and maps are written, and which rows form a group.

use lathe_base::Span;
use lathe_isa::Written;
use lathe_isa::language::ast::{AssemblyRow, Family, Habit, Item, Order, Row};

use crate::bits::Word;
use crate::sheet::{BlocksData, PrefixData, PseudoData};

/// The names of `assembly` rows without a word of their own.
pub(crate) const BARE_LABELS: &str = "bare labels";
pub(crate) const BARE_DIRECTIVES: &str = "bare directives";
pub(crate) const CASELESS_LABELS: &str = "caseless labels";
pub(crate) const OCTAL_NUMBERS: &str = "octal numbers";

/// The text of a definition, and its tree.
pub(crate) struct Text<'s>(&'s Written);

/// A row as its author wrote it.
pub(crate) struct WrittenRow<'s> {
    pub(crate) syntax: String,
    pub(crate) picture: String,
    pub(crate) condition: String,
    pub(crate) meaning: String,
    /// The words of its picture, if they are not cells.
    pub(crate) word: Option<Word>,
    /// Whether an empty line precedes it.
    pub(crate) begins_group: bool,
    /// The heading above it, with prose on further lines.
    pub(crate) heading: String,
    /// The families that it names.
    pub(crate) families: Vec<&'s Family>,
}

/// A row of a map as its author wrote it.
pub(crate) struct WrittenMapping {
    pub(crate) span: Span,
    pub(crate) read: String,
    pub(crate) write: String,
    pub(crate) documentation: String,
}

impl<'s> Text<'s> {
    pub(crate) fn new(written: &'s Written) -> Text<'s> {
        Text(written)
    }

    fn items(&self) -> &'s [Item] {
        &self.0.tree.items
    }

    /// Splits the text of the span's file at its beginning.
    fn split(&self, span: Span) -> (&'s str, &'s str) {
        self.0.text(span.file).split_at_checked(span.start as usize).unwrap_or_default()
    }

    /// Returns the rows of all instruction tables, in order.
    pub(crate) fn rows(&self) -> Vec<WrittenRow<'_>> {
        let mut rows = Vec::new();
        for item in self.items() {
            let Item::Instructions(table) = item else { continue };
            let word = table.unit.as_ref().and_then(|(ty, order)| {
                let bits = self.0.at(ty.span).trim_start_matches(['u', 's']).parse().ok()?;
                Some(Word { bits, little: *order == Some(Order::Little) })
            });
            rows.extend(table.rows.iter().enumerate().map(|(at, row)| {
                let heading = if at == 0 && row.heading.is_empty() { &table.documentation } else { &row.heading };
                WrittenRow { heading: heading.clone(), ..self.row(row, word, at == 0) }
            }));
        }
        rows
    }

    fn row(&self, row: &Row, word: Option<Word>, is_first: bool) -> WrittenRow<'_> {
        let rest = self.0.at(Span { start: row.picture.span.end, ..row.span });
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
            begins_group: is_first || blank_before(self.split(row.span).0),
            heading: String::new(),
            families: self.families().filter(names).collect(),
        }
    }

    /// Returns what follows the bits of a mode in its second column.
    pub(crate) fn condition_of_mode(&self, span: Span, picture: &str) -> String {
        let column = self.0.at(span).split('|').nth(1).unwrap_or("");
        without_comments(column).trim().strip_prefix(picture).unwrap_or("").trim().to_owned()
    }

    /// Returns the third column of a row.
    pub(crate) fn last_column(&self, span: Span) -> String {
        let meaning = self.0.at(span).splitn(3, '|').nth(2).unwrap_or("");
        outdented(without_comments(meaning).trim())
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = &'s Family> {
        self.items().iter().filter_map(|item| if let Item::Family(family) = item { Some(family) } else { None })
    }

    /// Returns what a member of a family does, as written.
    pub(crate) fn member(&self, family: &Family, name: &str) -> Option<String> {
        let member = family.members.iter().find(|member| member.name.text == name)?;
        let (_, rest) = self.split(member.name.span).1.split_once('=')?;
        Some(without_comments(&block(rest)).trim().to_owned())
    }

    /// Returns the functions, as written, with their documentation.
    pub(crate) fn functions(&self) -> Vec<String> {
        let functions = self.items().iter().filter_map(|item| match item {
            Item::Function(function) => Some((&function.name, &function.documentation)),
            _ => None,
        });
        functions
            .filter_map(|(name, documentation)| {
                let start = self.split(name.span).0.rfind("fn")?;
                Some(above(documentation) + &without_comments(&block(self.0.text(name.span.file).get(start..)?)))
            })
            .collect()
    }

    /// Returns the prefixes, as written.
    pub(crate) fn prefixes(&self) -> Vec<PrefixData> {
        let prefixes = self.items().iter().filter_map(|item| match item {
            Item::Prefix(prefix) => Some(prefix),
            _ => None,
        });
        prefixes
            .map(|prefix| PrefixData {
                name: prefix.name.text.clone(),
                picture: prefix.picture.text.clone(),
                changes: prefix.renames.iter().map(|(from, to)| format!("{} = {}", from.text, to.text)).collect(),
                documentation: prefix.documentation.clone(),
            })
            .collect()
    }

    /// Returns `on reset`, `on illegal`, `on step`, `before each` and `after each`, as written.
    pub(crate) fn hooks(&self) -> Vec<String> {
        let hooks = self.items().iter().filter_map(|item| match item {
            Item::OnReset(hook) | Item::OnIllegal(hook) | Item::OnStep(hook) | Item::Each(_, hook) => Some(hook),
            _ => None,
        });
        hooks.map(|hook| above(&hook.documentation) + &without_comments(&block(self.split(hook.span).1))).collect()
    }

    /// Returns the rows of all maps.
    pub(crate) fn maps(&self) -> Vec<WrittenMapping> {
        let rows = self.items().iter().flat_map(|item| match item {
            Item::Map(map) => map.rows.as_slice(),
            _ => &[],
        });
        rows.map(|row| {
            let whole = self.at(row.span);
            let mut columns = columns(whole).skip(1).map(|column| without_comments(column).trim().to_owned());
            let mut column = || columns.next().unwrap_or_default();
            let documentation = row.documentation.clone();
            WrittenMapping { span: row.span, read: column(), write: column(), documentation }
        })
        .collect()
    }

    /// Returns the pseudo-instructions, as written.
    pub(crate) fn pseudos(&self) -> Vec<PseudoData> {
        let items = self.items().iter().flat_map(|item| match item {
            Item::Pseudos(pseudos) => pseudos.rows.as_slice(),
            _ => &[],
        });
        items
            .map(|pseudo| PseudoData {
                syntax: pseudo.syntax.text.clone(),
                expansion: pseudo.expansion.iter().map(|part| part.text.clone()).collect(),
                documentation: pseudo.documentation.clone(),
            })
            .collect()
    }

    /// Returns the letters for widths, with their documentation.
    pub(crate) fn widths(&self) -> Vec<(&str, &str)> {
        let letter = |item: &'s Item| match item {
            Item::Width(width) => Some((width.name.text.as_str(), width.documentation.trim())),
            _ => None,
        };
        self.items().iter().filter_map(letter).collect()
    }

    /// Returns the documentation of a trap.
    pub(crate) fn about_trap(&self, name: &str) -> String {
        let about = self.items().iter().find_map(|item| match item {
            Item::Traps(traps) if traps.names.iter().any(|(known, _)| known.text == name) => Some(&traps.documentation),
            _ => None,
        });
        about.cloned().unwrap_or_default()
    }

    /// Returns the documentation of the example that begins here.
    pub(crate) fn about_example(&self, at: Span) -> String {
        let mut examples = self.items().iter().flat_map(|item| match item {
            Item::Examples(examples) => examples.rows.as_slice(),
            _ => &[],
        });
        examples.find(|example| example.source.span == at).map_or(String::new(), |one| one.documentation.clone())
    }

    /// Returns the documentation of the `assembly` rows, each with the words that the row is about.
    pub(crate) fn habits(&self) -> Vec<(String, &'s str)> {
        let mut all = Vec::new();
        for row in self.habit_rows() {
            let names = match &row.habit {
                Habit::Function { name, .. } | Habit::Unary { name, .. } => vec![name.text.clone()],
                Habit::Directives { names, .. } => names.iter().map(|name| name.text.to_ascii_lowercase()).collect(),
                Habit::Prefix { text, .. } => vec![text.text.to_ascii_lowercase()],
                Habit::Section { names, .. } => names.iter().map(|name| name.text.clone()).collect(),
                Habit::Comment(text)
                | Habit::Separator(text)
                | Habit::Local(text)
                | Habit::Here(text)
                | Habit::Operator { written: text, .. } => vec![text.text.clone()],
                Habit::BareLabels { .. } => vec![BARE_LABELS.to_owned()],
                Habit::BareDirectives => vec![BARE_DIRECTIVES.to_owned()],
                Habit::CaselessLabels => vec![CASELESS_LABELS.to_owned()],
                Habit::OctalNumbers => vec![OCTAL_NUMBERS.to_owned()],
            };
            all.extend(names.into_iter().map(|name| (name, row.documentation.as_str())));
        }
        all
    }

    /// Returns how a function or operator of expressions is written, and its value: `lo V` and `V[7:0]`.
    pub(crate) fn formula(&self, named: &str) -> Option<(&'s str, String)> {
        let name = self.habit_rows().find_map(|row| match &row.habit {
            Habit::Function { name, .. } | Habit::Unary { name, .. } => (name.text == named).then_some(name),
            _ => None,
        })?;
        let before = self.split(name.span).0;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = self.0.text(name.span.file).get(start..)?.lines().next()?;
        let (written, value) = line.split_once('=')?;
        Some((written.trim(), without_comments(value).trim().to_owned()))
    }

    fn habit_rows(&self) -> impl Iterator<Item = &'s AssemblyRow> {
        self.items().iter().flat_map(|item| match item {
            Item::Assembly(assembly) => assembly.rows.as_slice(),
            _ => &[],
        })
    }

    /// Returns the documentation of whole blocks.
    pub(crate) fn blocks(&self) -> BlocksData {
        let mut blocks = BlocksData {
            maps: String::new(),
            pseudos: String::new(),
            assembly: String::new(),
            examples: String::new(),
        };
        for item in self.items() {
            let (known, more) = match item {
                Item::Map(map) => (&mut blocks.maps, &map.documentation),
                Item::Pseudos(pseudos) => (&mut blocks.pseudos, &pseudos.documentation),
                Item::Assembly(assembly) => (&mut blocks.assembly, &assembly.documentation),
                Item::Examples(examples) => (&mut blocks.examples, &examples.documentation),
                _ => continue,
            };
            known.push_str(if known.is_empty() || more.is_empty() { "" } else { "\n\n" });
            known.push_str(more);
        }
        blocks
    }

    /// Returns the text of a span.
    pub(crate) fn at(&self, span: Span) -> &'s str {
        self.0.at(span)
    }

    /// Returns what follows the `:` of the example that begins here with this instruction. In the instruction a `#` is
    /// not a comment.
    pub(crate) fn facts(&self, at: Span, instruction: &str) -> String {
        let line = self.split(at).1.lines().next().unwrap_or("");
        let rest = line.strip_prefix(instruction).unwrap_or(line);
        without_comments(rest.split_once(':').map_or("", |(_, facts)| facts)).trim().to_owned()
    }
}

/// Returns prose as written above a declaration.
fn above(documentation: &str) -> String {
    documentation.lines().map(|line| format!("## {line}\n")).collect()
}

/// Splits a row of a map into columns. Between parentheses, a `|` is an operator.
fn columns(row: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    row.split(move |c: char| {
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        c == '|' && depth == 0
    })
}

/// Whether an empty line precedes the line at the end of a text, comments aside.
fn blank_before(before: &str) -> bool {
    let mut lines = before.lines().rev().map(str::trim).skip_while(|line| line.starts_with('#'));
    // The first is the part of the row's own line before the row.
    if !before.ends_with('\n') {
        lines.next();
    }
    lines.find(|line| !line.starts_with('#')).is_some_and(str::is_empty)
}

/// Returns a text up to the end of its line, or of the braces that its line opens.
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

/// Moves the lines after the first left until one of them reaches the margin.
fn outdented(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(at, line)| if at == 0 { line } else { line.get(least..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}
