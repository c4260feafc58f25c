//! Assembly: labels, mnemonics, operands and comments, each in its column.
//!
//! The columns are not ours to choose: programmers differ in whether operands line up, and where comments go. They are
//! those that most lines of the file already have; the other lines follow.

use std::collections::{BTreeMap, BTreeSet};

use lathe_asm::tokens::{self, Kind, Token};
use lathe_asm::words::Words;
use lathe_base::FileId;
use lathe_isa::Isa;
use lathe_isa::model::BareLabels;

use crate::columns::{count, pad};

/// The columns of mnemonics and of comments in a file without a habit of its own.
const CODE: usize = 8;
const COMMENTS: usize = 32;

/// Formats a program. The machine supplies its habits: what begins a comment, and whether a label goes without its
/// colon.
pub fn assembly(text: &str, isa: Option<&Isa>) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let habits = Habits::new(text, isa);
    let formatted = crate::settle(&text.replace("\r\n", "\n"), |text| once(text, &habits));
    if ending == "\n" { formatted } else { formatted.replace('\n', ending) }
}

/// What decides where a line is cut.
struct Habits {
    words: Words,
    /// Words that begin an instruction, in lowercase.
    operations: BTreeSet<String>,
    macros: BTreeSet<String>,
}

impl Habits {
    /// Whether an instruction or a macro call begins with a word.
    fn begins_call(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.operations.contains(&word) || self.macros.contains(&word)
    }

    fn new(text: &str, isa: Option<&Isa>) -> Habits {
        let words = isa.map(Words::new).unwrap_or_default();
        let operations = isa.iter().flat_map(|isa| isa.first_words()).map(str::to_lowercase).collect();
        let mut macros = BTreeSet::new();
        let (mut at, mut tokens) = (0, Vec::new());
        while at < text.len() {
            tokens.clear();
            at = tokens::line(FileId(0), text, at, &words.habits, &mut tokens);
            let word = |token: Token| &text[token.span.range()];
            let after = tokens.first().filter(|first| words.directive(word(**first)) == Some(".macro"));
            let name = after.and_then(|_| tokens.get(1).copied());
            let name = name.or_else(|| words.macro_after_name(&tokens, word).map(|(name, _)| name));
            macros.extend(name.map(|name| word(name).to_lowercase()));
        }
        Habits { words, operations, macros }
    }
}

/// A line, cut at its columns.
#[derive(Debug, PartialEq, Eq)]
struct Line<'s> {
    labels: Vec<&'s str>,
    /// The mnemonic, directive or name of a constant, and its present column.
    operation: &'s str,
    operation_at: usize,
    /// The rest of the line up to the comment.
    operands: &'s str,
    operands_at: usize,
    comment: &'s str,
    comment_at: usize,
    /// `name = value`, `name equ value`
    is_constant: bool,
    /// Whether the operation stays at the margin: a directive or constant that is there already, or something that may
    /// be a label only there.
    is_outdented: bool,
}

enum Piece<'s> {
    Line(Line<'s>),
    /// Text that cannot be cut: a comment over several lines, several statements on one.
    Whole(&'s str),
}

fn once(text: &str, habits: &Habits) -> String {
    let pieces = read(text, habits);
    let columns = Columns::of(&pieces);
    let mut out: Vec<String> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Whole(whole) => out.extend(whole.trim_end().split('\n').map(|line| line.trim_end().to_owned())),
            Piece::Line(line) => {
                let text = columns.render(line, &pieces, at, habits);
                if !text.is_empty() || out.last().is_some_and(|last| !last.is_empty()) {
                    out.push(text);
                }
            }
        }
    }
    while out.last().is_some_and(|last| last.is_empty()) {
        out.pop();
    }
    let formatted: String = out.iter().map(|line| format!("{line}\n")).collect();
    if same_tokens(text, &formatted, habits) { formatted } else { text.to_owned() }
}

/// Whether two texts have the same tokens, line by line, and the same tokens touch: a mnemonic such as `st+` is two
/// tokens. What follows a label or the name of a constant may move away from it.
fn same_tokens(one: &str, other: &str, habits: &Habits) -> bool {
    let lines = |text: &str| {
        let mut at = 0;
        let mut lines: Vec<Vec<(String, bool)>> = Vec::new();
        while at < text.len() {
            let mut tokens = Vec::new();
            at = tokens::line(FileId(0), text, at, &habits.words.habits, &mut tokens);
            let word = |token: &Token| text[token.span.range()].to_owned();
            let touches = |at: usize| {
                let assigned = habits.words.defines(&tokens[at..], |token| &text[token.span.range()]).is_some();
                let free = |next: &Token| {
                    tokens[at].is_mark(':') && !next.is_mark('=')
                        || next.is_mark('=') && !tokens[at].is_mark(':')
                        || assigned
                };
                tokens.get(at + 1).is_some_and(|next| tokens[at].touches(*next) && !free(next))
            };
            let line: Vec<_> = tokens.iter().enumerate().map(|(at, token)| (word(token), touches(at))).collect();
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    };
    lines(one) == lines(other)
}

fn read<'s>(text: &'s str, habits: &Habits) -> Vec<Piece<'s>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let mut tokens = Vec::new();
        let mut next = tokens::line(FileId(0), text, at, &habits.words.habits, &mut tokens);
        let whole_line = next == (end + 1).min(text.len());
        while next < text.len() && !text[..next].ends_with('\n') {
            next = tokens::line(FileId(0), text, next, &habits.words.habits, &mut Vec::new());
        }
        let bad = tokens.iter().any(|token| matches!(token.kind, Kind::Bad(_)));
        let inside = || {
            tokens.windows(2).any(|pair| text[pair[0].span.end as usize..pair[1].span.start as usize].contains("/*"))
        };
        if whole_line && !bad && !inside() && !text[at..end].trim_start().starts_with("/*") {
            pieces.push(Piece::Line(cut(&text[..end], at, &tokens, habits)));
        } else {
            pieces.push(Piece::Whole(&text[at..next]));
        }
        at = next;
    }
    pieces
}

/// Cuts the line that begins at `start` and ends with the text.
fn cut<'s>(text: &'s str, start: usize, tokens: &[Token], habits: &Habits) -> Line<'s> {
    let word = |token: &Token| &text[token.span.range()];
    let column = |at: usize| visible(&text[start..at]);
    let mut labels = Vec::new();
    let mut rest = tokens;
    loop {
        match rest {
            [colon, tail @ ..] if colon.is_mark(':') => {
                labels.push(word(colon));
                rest = tail;
            }
            [name, colon, tail @ ..]
                if matches!(name.kind, Kind::Word | Kind::Number(_))
                    && colon.is_mark(':')
                    && name.touches(*colon)
                    && !is_constant(rest, text, habits) =>
            {
                labels.push(&text[name.span.start as usize..colon.span.end as usize]);
                rest = tail;
            }
            [name, tail @ ..] if labels.is_empty() && is_bare_label(rest, text, habits) => {
                labels.push(word(name));
                rest = tail;
            }
            _ => break,
        }
    }
    let code_end = tokens.last().map_or(start, |token| token.span.end as usize);
    let comment = text[code_end..].trim();
    let comment_at = column(text.len() - text[code_end..].trim_start().len());
    let (operation, operands) = match rest {
        [] => ("", ""),
        [first, tail @ ..] => {
            // An operation such as `st+` is several tokens that touch.
            let mut last = first;
            let mut tail = tail;
            while let [next, after @ ..] = tail
                && last.touches(*next)
                && !matches!(next.kind, Kind::Text)
                && !is_constant(rest, text, habits)
            {
                (last, tail) = (next, after);
            }
            let operands = tail.first().map_or("", |next| &text[next.span.start as usize..code_end]);
            (&text[first.span.start as usize..last.span.end as usize], operands)
        }
    };
    let operation_at = rest.first().map_or(0, |first| column(first.span.start as usize));
    let operands_at = column(code_end - operands.len());
    let is_constant = labels.is_empty() && is_constant(rest, text, habits);
    let margin = labels.is_empty() && operation_at == 0;
    let may_be_label =
        || habits.words.habits.bare_labels == BareLabels::InFirstColumn && !habits.begins_call(operation);
    let is_directive = || operation.starts_with('.') || habits.words.directive(operation).is_some();
    let names_macro = || habits.words.macro_after_name(tokens, |token| &text[token.span.range()]).is_some();
    let is_outdented = margin && (is_constant || is_directive() || names_macro() || may_be_label());
    Line { labels, operation, operation_at, operands, operands_at, comment, comment_at, is_constant, is_outdented }
}

/// `name = …`
fn is_constant(tokens: &[Token], text: &str, habits: &Habits) -> bool {
    let defines = habits.words.defines(tokens, |token| &text[token.span.range()]);
    defines.is_some_and(|(_, means)| means != ".macro")
}

fn is_bare_label(tokens: &[Token], text: &str, habits: &Habits) -> bool {
    let begins = |word: &str| habits.begins_call(word);
    habits.words.is_bare_label(tokens, text, |token| &text[token.span.range()], begins)
}

/// Returns how many columns a text takes, with tab stops every eight columns.
fn visible(text: &str) -> usize {
    text.chars().fold(0, |column, c| if c == '\t' { (column / 8 + 1) * 8 } else { column + 1 })
}

/// The columns of a file.
struct Columns {
    code: usize,
    /// Where operands begin; `None` if they follow their mnemonic after one blank.
    operands: Option<usize>,
    comments: usize,
}

impl Columns {
    fn of(pieces: &[Piece]) -> Columns {
        let lines = || pieces.iter().filter_map(|piece| if let Piece::Line(line) = piece { Some(line) } else { None });
        let plain = || lines().filter(|line| line.labels.is_empty() && !line.operation.is_empty());
        let code = vote(plain().filter(|line| line.operation_at > 0).map(|line| line.operation_at));
        let with_operands =
            || plain().filter(|line| !line.operands.is_empty() && !line.is_constant && !line.is_outdented);
        let gap = |line: &&Line| line.operands_at.saturating_sub(line.operation_at + count(line.operation));
        let aligned = vote(with_operands().filter(|line| gap(line) > 1).map(|line| line.operands_at));
        let operands = aligned.filter(|column| {
            let here = with_operands().filter(|line| line.operands_at == *column).count();
            here > with_operands().filter(|line| gap(line) == 1 && line.operands_at != *column).count()
        });
        let trailing = lines().filter(|line| !line.operation.is_empty() && !line.comment.is_empty());
        let comments = vote(trailing.map(|line| line.comment_at));
        Columns { code: code.unwrap_or(CODE), operands, comments: comments.unwrap_or(COMMENTS) }
    }

    fn render(&self, line: &Line, pieces: &[Piece], at: usize, habits: &Habits) -> String {
        let mut text = line.labels.join(" ");
        if !line.operation.is_empty() {
            if !line.is_outdented {
                pad(&mut text, self.code);
            }
            if !text.is_empty() && !text.ends_with(' ') {
                text.push(' ');
            }
            text.push_str(line.operation);
        }
        if !line.operands.is_empty() {
            if line.is_constant {
                pad(&mut text, constants(pieces, at).max(self.code));
            } else if is_table_row(pieces, at, habits) {
                let column = count(&text) + line.operands_at - line.operation_at - count(line.operation);
                pad(&mut text, column);
            } else if let Some(column) = self.operands.filter(|_| !line.is_outdented) {
                pad(&mut text, column);
            }
            if !text.ends_with(' ') {
                text.push(' ');
            }
            text.push_str(line.operands);
        }
        if line.comment.is_empty() {
            return text;
        }
        if text.is_empty() {
            let beside = line.comment_at * 2 >= self.comments + self.code;
            let column = if line.comment_at == 0 {
                0
            } else if beside {
                self.comments
            } else {
                self.code
            };
            pad(&mut text, column);
        } else {
            let beyond = (count(&text) / 8 + 1) * 8;
            let column = if count(&text) < self.comments { self.comments } else { beyond };
            pad(&mut text, column);
        }
        text + line.comment
    }
}

/// Whether a line calls the same macro as the line before or after it: such rows form a table that the author has laid
/// out.
fn is_table_row(pieces: &[Piece], at: usize, habits: &Habits) -> bool {
    let macro_at = |at: usize| match pieces.get(at) {
        Some(Piece::Line(line)) if habits.macros.contains(&line.operation.to_lowercase()) => Some(line.operation),
        _ => None,
    };
    let here = macro_at(at);
    here.is_some() && (here == macro_at(at + 1) || at > 0 && here == macro_at(at - 1))
}

/// Returns the column of `=` in the run of constants around this line.
fn constants(pieces: &[Piece], at: usize) -> usize {
    let constant = |piece: &Piece| match piece {
        Piece::Line(line) if line.is_constant && line.operation_at == 0 => Some(count(line.operation) + 1),
        _ => None,
    };
    let before = pieces[..at].iter().rev().map_while(constant);
    pieces[at..].iter().map_while(constant).chain(before).max().unwrap_or(0)
}

/// Returns the most frequent column; of equally frequent ones, the smallest.
fn vote(columns: impl Iterator<Item = usize>) -> Option<usize> {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    // Tabs are eight wide, and so are most columns.
    columns.for_each(|column| *votes.entry(column).or_default() += if column % 8 == 0 { 2 } else { 1 });
    // A single line is not a habit.
    let most = votes.values().copied().max().filter(|most| *most > 1)?;
    votes.into_iter().find(|(_, count)| *count == most).map(|(column, _)| column)
}
