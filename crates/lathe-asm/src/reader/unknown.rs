//! Lines that begin with a word the machine does not have: what the author may have meant.

use lathe_base::{Diagnostic, Span, nearest};

use super::Reader;
use super::directives::directive_for;
use crate::codes;
use crate::program::{ItemKind, Texts};
use crate::symbols::Definition;
use crate::tokens::{Kind, Token};
use crate::words::is_in_first_column;

/// Mnemonics that mean much the same on different machines.
const ALIKE: [&[&str]; 12] = [
    &["mov", "move", "mv", "ld", "ldr", "lda", "load", "li", "ldi", "loadimm", "copy"],
    &["st", "str", "sta", "store", "sw", "mov", "ld"],
    &["jmp", "jp", "j", "b", "bra", "br", "goto", "jr"],
    &["call", "jsr", "jal", "bl", "gosub"],
    &["ret", "rts", "return", "rt"],
    &["halt", "hlt", "stop", "hcf"],
    &["push", "psh", "pha"],
    &["pop", "pull", "pla"],
    &["inc", "inx", "increment"],
    &["dec", "dex", "decrement"],
    &["cmp", "cp", "compare"],
    &["or", "ora", "xor", "eor", "and"],
];

/// The index in `ALIKE` of the instructions that end a program.
const ENDS: usize = 5;

impl Reader<'_> {
    /// Explains why a line cannot begin with its first word.
    pub(super) fn unknown_word(&self, tokens: &[Token], texts: &Texts) -> Diagnostic {
        let word = self.text(texts, tokens[0]);
        let (span, shown) = (tokens[0].span, short(word));
        let message = format!("{} has no instruction `{shown}`", self.isa.name);
        let diagnostic = Diagnostic::new(codes::UNKNOWN_MNEMONIC, span, message);
        let is_mark = |at: usize, mark: char| tokens.get(at).is_some_and(|token: &Token| token.is_mark(mark));
        let after = Span { start: span.end, ..span };
        if is_mark(1, ':') && is_mark(2, '=') {
            let assign = tokens[1].span.to(tokens[2].span);
            return diagnostic.help(format!("a constant is written `{shown} = …`")).fix(assign, "=");
        }
        if is_mark(1, ':') {
            let gap = Span { end: tokens[1].span.start, ..after };
            return diagnostic.help(format!("a label is written without a blank: `{shown}:`")).fix(gap, "");
        }
        let nearest = self.forms.nearest(word);
        let is_indented = !is_in_first_column(tokens[0], self.source(texts, tokens[0]));
        let begins_line = |token: &Token| {
            let next = self.text(texts, *token);
            let is_directive = self.words.directive(next).or(directive_for(next)).is_some();
            // After `bnee`, `.next` is a local label; after `ldda`, `text` is a name, though it may also be a
            // directive.
            let is_operand = match next.starts_with('.') {
                true => !is_directive,
                false => is_indented && !self.begins_call(next),
            };
            token.kind == Kind::Word && (is_directive || self.begins_line(next)) && !(is_operand && nearest.is_some())
        };
        if word != "#" && tokens.get(1).is_some_and(begins_line) {
            return diagnostic.help(format!("a label needs a colon: `{shown}:`")).fix(after, ":");
        }
        if let Some(directive) = directive_for(word).filter(|_| !word.starts_with('.')) {
            return diagnostic.did_you_mean(span, directive);
        }
        if let Some(meant) = nearest {
            return diagnostic.did_you_mean(span, meant);
        }
        let alike = ALIKE.iter().filter(|group| group.contains(&word.to_ascii_lowercase().as_str()));
        let known: Vec<String> = alike
            .flat_map(|group| group.iter())
            .filter(|other| self.forms.knows(other))
            .map(|other| format!("`{other}`"))
            .collect();
        match word {
            _ if !known.is_empty() => diagnostic.help(format!("{} has {} for that", self.isa.name, known.join(", "))),
            _ if ALIKE[ENDS].contains(&word.to_ascii_lowercase().as_str()) => {
                diagnostic.help("a program ends with a jump to itself, or by an instruction whose meaning says `halt`")
            }
            "#" => diagnostic.help("comments begin with `;`").fix(span, ";"),
            _ if tokens.len() == 1 && is_in_first_column(tokens[0], self.source(texts, tokens[0])) => {
                diagnostic.help(format!("a label needs a colon: `{shown}:`")).fix(after, ":")
            }
            _ => diagnostic.help(format!("`lathe show {}` lists its instructions", self.isa.name)),
        }
    }

    /// Defines what is probably a label without its colon, so that its uses are not reported too.
    pub(super) fn define_if_label(&mut self, tokens: &[Token], texts: &Texts) {
        let begins_line = |token: &Token| token.kind == Kind::Word && self.begins_line(self.text(texts, *token));
        let (word, span) = (self.text(texts, tokens[0]), tokens[0].span);
        if tokens[0].kind != Kind::Word || self.context.is_reserved(word) || !tokens.get(1).is_none_or(begins_line) {
            return;
        }
        let id = self.program.symbols.intern(word, span);
        if self.program.symbols.define(id, Definition::Label(self.memory, None), span).is_ok() {
            self.push(ItemKind::Label(id), span);
        }
    }

    /// Returns the macro that a word probably means, if a name is near.
    pub(super) fn macro_near(&self, word: &str) -> Option<&str> {
        let mut known: Vec<&str> = self.macros.values().map(|found| found.name.as_str()).collect();
        known.sort_unstable();
        nearest(word, known)
    }
}

/// Shortens a word for a message.
fn short(word: &str) -> String {
    const LONGEST: usize = 60;
    match word.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &word[..at]),
        None => word.to_owned(),
    }
}
