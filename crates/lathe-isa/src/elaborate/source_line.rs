//! Lines of assembly inside a definition: expansions of pseudo-instructions, and examples.

use std::collections::{BTreeMap, BTreeSet};

use lathe_base::{Code, Diagnostic, Diagnostics, FileId, Span, nearest};

use super::Declarations;
use crate::language::ast::{Column, Expr, ExprKind};
use crate::language::parser::{Parser, TextKind};
use crate::matching::{Found, Line, match_line};
use crate::model::{Field, Instruction, InstructionId};
use crate::names::Named;
use crate::syntax::{Digits, Head};

/// A line of assembly in the text of a definition.
pub(crate) struct SourceLine<'s> {
    file: FileId,
    text: &'s str,
    at: usize,
    end: usize,
    declarations: &'s Declarations<'s>,
    /// Parameters that stand for a register or another name.
    stand_ins: &'s [String],
    /// The member chosen from each family, by the family's name.
    members: &'s [(String, String)],
}

impl<'s> SourceLine<'s> {
    fn new(
        declarations: &'s Declarations<'s>,
        column: &Column,
        stand_ins: &'s [String],
        members: &'s [(String, String)],
    ) -> Self {
        let (at, end) = (column.span.start as usize, column.span.end as usize);
        let file = column.span.file;
        SourceLine { file, text: declarations.text(file), at, end, declarations, stand_ins, members }
    }

    /// Returns the next word, with each `{FAMILY}` in it replaced by the member, and its length as written.
    fn spelled(&self) -> (String, usize) {
        let (mut word, mut length) = (String::new(), 0);
        loop {
            let rest = &self.rest()[length..];
            let plain = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
            word.push_str(&rest[..plain]);
            length += plain;
            let braced = rest[plain..].strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, _)) = braced else { return (word, length) };
            let Some((_, member)) = self.members.iter().find(|(family, _)| family == name) else {
                return (word, length);
            };
            word.push_str(member);
            length += name.len() + 2;
        }
    }

    /// Whether a word is a name rather than an expression.
    fn is_name(&self, word: &str) -> bool {
        let is_register = matches!(self.declarations.names.peek(word), Some(Named::Register(_) | Named::View(_)));
        is_register || self.stand_ins.iter().any(|known| known == word)
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..self.end]
    }

    fn skip_blanks(&mut self) {
        self.at = self.end - self.rest().trim_start().len();
    }

    fn word_length(&self) -> usize {
        let rest = self.rest();
        rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len())
    }

    fn expression(&mut self) -> Option<Expr> {
        let mut ignored = Diagnostics::default();
        let text = &self.text[..self.end];
        let mut parser = Parser::starting_at(self.file, text, self.at, &mut ignored).of_kind(TextKind::Assembly);
        let expr = parser.expression().ok()?;
        let end = parser.end();
        (ignored.is_empty() && end <= self.end).then(|| {
            self.at = end;
            expr
        })
    }
}

impl Line for SourceLine<'_> {
    type Value = Expr;
    type Mark = usize;

    fn mark(&self) -> usize {
        self.at
    }

    fn rewind(&mut self, mark: usize) {
        self.at = mark;
    }

    fn text(&mut self, text: &str) -> bool {
        self.skip_blanks();
        // Most texts differ in the first letter. A family begins with a brace.
        let may_begin = |c: char| c == '{' || text.starts_with(|first: char| first.eq_ignore_ascii_case(&c));
        if !self.rest().starts_with(may_begin) {
            return false;
        }
        let is_word = text.starts_with(is_of_word);
        let (found, length) = if is_word {
            self.spelled()
        } else {
            (self.rest().get(..text.len()).unwrap_or_default().to_owned(), text.len())
        };
        if found.eq_ignore_ascii_case(text) {
            self.at += length;
            return true;
        }
        // A mnemonic may contain marks, as in `c.addi`.
        let begins = self.rest().get(..text.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(text));
        let ends = !self.rest().get(text.len()..).unwrap_or("").starts_with(is_of_word);
        if is_word && begins && ends {
            self.at += text.len();
        }
        is_word && begins && ends
    }

    fn word(&mut self) -> Option<&str> {
        self.skip_blanks();
        let (start, length) = (self.at, self.word_length());
        self.at += length;
        (length > 0).then(|| &self.text[start..start + length])
    }

    fn named(&mut self, field: &Field) -> Option<Found<Expr>> {
        let word = self.word()?.to_owned();
        // Parameters take precedence: `D` is one even if a register is named `d`.
        if self.stand_ins.contains(&word) {
            let span = Span::new(self.file, self.at - word.len(), self.at);
            return Some(Found::Value(Expr { kind: ExprKind::Name(word), span }));
        }
        let bits = field.bits_named(&word)?;
        if self.is_name(&word) {
            self.declarations.names.find(&word, Span::new(self.file, self.at - word.len(), self.at));
        }
        Some(Found::Bits(bits))
    }

    fn value(&mut self) -> Option<Expr> {
        self.skip_blanks();
        let name = &self.rest()[..self.word_length()];
        if self.is_name(name) {
            return None;
        }
        self.expression()
    }

    fn number(&mut self, value: u64) -> Expr {
        let span = Span::new(self.file, self.at, self.at);
        Expr { kind: ExprKind::Number(value), span }
    }

    fn braced(&mut self, prefix: &str, digits: Digits, suffix: &str) -> Option<Expr> {
        self.skip_blanks();
        let inside = self.rest().strip_prefix(prefix)?.strip_prefix('{')?;
        let length = inside.find('}')?;
        let format = inside[..length].split_once(':')?.1.trim();
        let after = &inside[length + 1..];
        if format != digits.to_string() || !after.starts_with(suffix) {
            return None;
        }
        self.at += prefix.len() + 1;
        let expr = self.expression()?;
        self.at = self.end - after.len() + suffix.len();
        Some(expr)
    }

    fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.end
    }
}

/// All instructions, indexed by how they begin: a machine may have thousands of them, and hundreds of lines.
pub(crate) struct Heads<'i> {
    pub(crate) instructions: &'i [Instruction],
    /// Those that begin with a word, by its letters and digits before the first mark.
    by_word: BTreeMap<String, Vec<usize>>,
    /// The others, and those that may begin in several ways, one of which is no word.
    others: Vec<usize>,
}

impl<'i> Heads<'i> {
    pub(crate) fn new(instructions: &'i [Instruction]) -> Heads<'i> {
        let mut heads = Heads { instructions, by_word: BTreeMap::new(), others: Vec::new() };
        for (at, instruction) in instructions.iter().enumerate() {
            let word = |head: &Head| if let Head::Word(word) = head { first_word(word) } else { None };
            match instruction.syntax.heads.iter().map(word).collect::<Option<BTreeSet<String>>>() {
                Some(words) => words.into_iter().for_each(|word| heads.by_word.entry(word).or_default().push(at)),
                None => heads.others.push(at),
            }
        }
        heads
    }

    /// Returns the numbers of all instructions that a line may fit, in order.
    fn candidates(&self, line: &str) -> Vec<usize> {
        let line = line.trim_start();
        let after = line.trim_start_matches(is_of_word);
        if after.starts_with('{') {
            // The members of a family are not looked up.
            return (0..self.instructions.len()).collect();
        }
        let worded = first_word(line).and_then(|word| self.by_word.get(&word));
        let mut all: Vec<usize> = worded.into_iter().flatten().chain(&self.others).copied().collect();
        all.sort_unstable();
        all
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the word at the beginning of a text, in lower case, up to the first blank or mark.
fn first_word(text: &str) -> Option<String> {
    let word = &text[..text.find(|c: char| !is_of_word(c)).unwrap_or(text.len())];
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// Returns every instruction that a line fits, with its operands.
pub(crate) fn forms(
    declarations: &Declarations,
    column: &Column,
    heads: &Heads,
    stand_ins: &[String],
    members: &[(String, String)],
) -> Vec<(InstructionId, Vec<Found<Expr>>)> {
    let instructions = heads.instructions;
    let mut forms = Vec::new();
    for at in heads.candidates(declarations.text(column.span.file).get(column.span.range()).unwrap_or("")) {
        let instruction = &instructions[at];
        let field = |index: usize| -> &Field { &declarations.fields[instruction.operands[index].index()] };
        let mut line = SourceLine::new(declarations, column, stand_ins, members);
        if let Ok(operands) = match_line(&instruction.syntax, &field, &mut line) {
            forms.push((InstructionId(at as u32), operands));
        }
    }
    let texts = |id: InstructionId| instructions[id.index()].syntax.texts();
    let most = forms.iter().map(|(id, _)| texts(*id)).max();
    forms.retain(|(id, _)| Some(texts(*id)) == most);
    forms
}

/// Makes a diagnostic for a line that is not an instruction, with the forms of its mnemonic; none if a row that could
/// not be understood may be the reason.
pub(crate) fn no_form(
    code: Code,
    declarations: &Declarations,
    column: &Column,
    instructions: &[Instruction],
) -> Option<Diagnostic> {
    if declarations.rows_lost.get() {
        // It may be one of the rows that could not be understood.
        return None;
    }
    let first = column.text.split_whitespace().next().unwrap_or("");
    let known: Vec<&str> = instructions.iter().map(|instruction| instruction.syntax.mnemonic()).collect();
    let same = instructions.iter().filter(|instruction| instruction.syntax.mnemonic().eq_ignore_ascii_case(first));
    let field =
        |instruction: &Instruction, index: usize| declarations.fields[instruction.operands[index].index()].name.clone();
    let rows: Vec<String> = same
        .map(|instruction| format!("`{}`", instruction.syntax.render(|index| field(instruction, index))))
        .take(4)
        .collect();
    let message = match rows.first() {
        Some(_) => format!("`{}` does not fit any form of `{first}`", column.text),
        None => format!("this machine has no instruction `{first}`"),
    };
    let diagnostic = Diagnostic::new(code, column.span, message);
    let word = Span { end: column.span.start + first.len() as u32, ..column.span };
    Some(match (rows.first(), nearest(first, known)) {
        (Some(_), _) => diagnostic.help(format!("write it as {}", rows.join(" or "))),
        (None, Some(meant)) => diagnostic.did_you_mean(word, meant),
        (None, None) => diagnostic.help("write it as one of the rows of `instructions`"),
    })
}
