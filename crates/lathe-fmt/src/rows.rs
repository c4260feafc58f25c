//! Rows of a definition's tables, cut into their columns.
//!
//! The cuts are those of the parser: a column of syntax or encoding is raw text up to its mark.

use crate::spacing::{Place, tidy};

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Instructions { cycles: bool },
    Map,
    Pseudo,
    Examples,
    Family,
    Assembly,
}

/// A row: its columns, the line's code, and its comment.
pub(crate) struct Row<'s> {
    pub(crate) cells: Vec<String>,
    /// The part of the line that may open and close braces.
    pub(crate) code: &'s str,
    pub(crate) comment: &'s str,
}

impl Table {
    /// Returns the table that a line opens.
    pub(crate) fn opened_by(line: &str) -> Option<Table> {
        let word = line.split(|c: char| !c.is_alphanumeric()).next()?;
        Some(match word {
            "instructions" => Table::Instructions { cycles: line.contains("with cycles") },
            "operand" => Table::Instructions { cycles: false },
            "map" => Table::Map,
            "pseudo" => Table::Pseudo,
            "examples" => Table::Examples,
            "family" => Table::Family,
            "assembly" => Table::Assembly,
            _ => return None,
        })
    }

    /// Returns the mark between two columns.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Table::Instructions { .. } | Table::Map => "|",
            Table::Pseudo => "=>",
            Table::Examples => ":",
            Table::Family | Table::Assembly => "=",
        }
    }

    /// Returns how many columns its rows have.
    pub(crate) fn columns(self) -> usize {
        match self {
            Table::Instructions { cycles: true } => 4,
            Table::Instructions { cycles: false } | Table::Map => 3,
            _ => 2,
        }
    }

    /// Cuts a line into columns; `None` if it is not a whole row.
    pub(crate) fn row(self, line: &str) -> Option<Row<'_>> {
        let (raw, tokens) = match self {
            Table::Instructions { cycles } => (2, 1 + usize::from(cycles)),
            Table::Map => (0, 3),
            Table::Pseudo | Table::Examples => (1, 1),
            Table::Family | Table::Assembly => (0, 2),
        };
        let mut cells = Vec::new();
        let mut rest = line;
        for _ in 0..raw {
            let (cell, after) = match self {
                Table::Examples => rest.split_at(lathe_isa::language::end_of_instruction(rest)?),
                _ => rest.split_at(rest.find(self.mark())?),
            };
            if comment_in_raw(cell.trim_start()).is_some() {
                return None;
            }
            cells.push(cell.trim().to_owned());
            rest = &after[self.mark().len()..];
        }
        for _ in 1..tokens {
            let at = outside(rest, self.mark())?;
            cells.push(self.tidy_left(&rest[..at]));
            rest = &rest[at + self.mark().len()..];
        }
        let (code, comment) = self.split_comment(rest);
        cells.push(match self {
            Table::Pseudo | Table::Assembly => code.trim().to_owned(),
            _ => tidy(code, Place::Meaning),
        });
        let code = if self == Table::Pseudo { "" } else { code };
        Some(Row { cells, code, comment })
    }

    fn tidy_left(self, cell: &str) -> String {
        match self {
            Table::Assembly => cell.trim().to_owned(),
            Table::Family => tidy(cell, Place::Declaration),
            _ => tidy(cell, Place::Meaning),
        }
    }

    fn split_comment(self, rest: &str) -> (&str, &str) {
        if self != Table::Pseudo {
            return split_comment(rest);
        }
        let mut start = 0;
        for part in rest.split(';') {
            let blanks = part.len() - part.trim_start().len();
            if let Some(at) = comment_in_raw(part.trim_start()) {
                return rest.split_at(start + blanks + at);
            }
            start += part.len() + 1;
        }
        (rest, "")
    }
}

/// Returns where a comment begins in a column of raw text.
fn comment_in_raw(column: &str) -> Option<usize> {
    column.char_indices().filter(|(_, c)| *c == '#').map(|(at, _)| at).find(|at| {
        let follows = column[at + 1..].chars().next();
        *at == 0 || follows.is_none_or(|c| c.is_whitespace() || c == '#')
    })
}

/// Splits a line of tokens from the comment at its end.
pub(crate) fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return (line[..at].trim_end(), line[at..].trim_end()),
            _ => {}
        }
    }
    (line.trim_end(), "")
}

/// Finds a mark outside brackets, texts and comments that is not part of a longer one.
pub(crate) fn outside(text: &str, wanted: &str) -> Option<usize> {
    let (text, _) = split_comment(text);
    let (mut depth, mut quoted) = (0i32, false);
    let joins = |c: Option<char>| c.is_some_and(|c| "=!<>|-".contains(c));
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        let after = text[at..].strip_prefix(wanted);
        let alone = !joins(text[..at].chars().next_back()) && after.is_some_and(|rest| !joins(rest.chars().next()));
        if !quoted && depth == 0 && alone {
            return Some(at);
        }
    }
    None
}
