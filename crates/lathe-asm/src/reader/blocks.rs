//! Conditions, macros and repetitions.

use std::collections::HashSet;
use std::rc::Rc;

use lathe_base::{FileId, Span, limits};

use super::directives::{called_here, renamed};
use super::{Ended, Frame, FrameKind, Reader, Replaced, TURN, is_label, replace};
use crate::codes;
use crate::lines::CallKind;
use crate::names::{Name, NameKind};
use crate::parser::Scope;
use crate::program::Texts;
use crate::symbols::Definition;
use crate::tokens::{self, Kind, Token};

/// An open `.if`.
pub(super) struct Condition {
    pub(super) span: Span,
    /// Whether lines are being read.
    active: bool,
    /// Whether a branch has been taken, or none may be.
    done: bool,
    /// Whether `.else` has been seen.
    last: bool,
}

/// A macro: its parameters with their defaults, and its lines as a range of a source.
pub(super) struct Macro {
    pub(super) name: String,
    /// Its position in the program's list of macros.
    number: usize,
    parameters: Vec<(String, Option<Vec<Token>>)>,
    body: Body,
}

/// Lines that may be read several times: a range of a source, the local labels defined in it, and whether it uses
/// arguments such as `\1` and `\@`.
#[derive(Clone)]
pub(super) struct Body {
    file: FileId,
    start: usize,
    end: usize,
    labels: Rc<HashSet<String>>,
    has_arguments: bool,
}

/// The remaining turns of a repetition.
pub(super) struct Turns {
    body: Body,
    span: Span,
    turn: i128,
    count: i128,
    counter: Option<String>,
    outer: Rc<Replaced>,
}

impl Reader<'_> {
    /// Whether lines are read rather than skipped.
    pub(super) fn active(&self) -> bool {
        self.conditions.last().is_none_or(|condition| condition.active)
    }

    /// Handles `.if` and its kin, which count even in lines that are skipped.
    pub(super) fn condition_directive(&mut self, tokens: &[Token], texts: &Texts) -> bool {
        let span = tokens[0].span;
        let written = self.text(texts, tokens[0]);
        let word = match self.words.directive(written) {
            Some(means) => means.to_owned(),
            None if !written.starts_with('.') => return false,
            None => {
                let written = written.to_ascii_lowercase();
                let Some(meant) = called_here(&written).filter(|meant| matches!(*meant, ".elif" | ".endif")) else {
                    return false;
                };
                self.report(renamed(&written, meant, span));
                meant.to_owned()
            }
        };
        match word.as_str() {
            ".ifdef" | ".ifndef" => {
                let outer = self.active();
                let defined = outer.then(|| self.is_defined(tokens, texts)).flatten();
                let holds = defined == Some(word == ".ifdef");
                let done = holds || defined.is_none();
                self.conditions.push(Condition { span, active: holds, done, last: false });
            }
            ".if" => {
                let outer = self.active();
                let holds = outer && self.known(&tokens[1..], span, texts).is_some_and(|value| value != 0);
                self.conditions.push(Condition { span, active: holds, done: holds || !outer, last: false });
            }
            ".elif" => {
                let wanted = self.innermost().map(|condition| !condition.done && !condition.last);
                match wanted {
                    Some(true) => {
                        let holds = self.known(&tokens[1..], span, texts).is_some_and(|value| value != 0);
                        self.update(holds, holds, false);
                    }
                    Some(false) => self.update(false, true, false),
                    None => {
                        self.unbalanced(span, ".elif", ".if");
                    }
                }
            }
            ".else" => match self.innermost().map(|condition| (condition.done, condition.last)) {
                Some((done, false)) => self.update(!done, true, true),
                Some((_, true)) => {
                    self.unbalanced(span, "a second .else", ".if");
                }
                None => {
                    self.unbalanced(span, ".else", ".if");
                }
            },
            ".endif" => {
                if self.innermost().is_none() {
                    self.unbalanced(span, ".endif", ".if");
                } else {
                    self.conditions.pop();
                }
            }
            _ => return false,
        }
        true
    }

    /// Whether the name after `.ifdef` is defined before this line.
    fn is_defined(&mut self, tokens: &[Token], texts: &Texts) -> Option<bool> {
        let [_, name] = tokens else { return self.bad_directive(tokens, texts, "expected a name") };
        let Some(id) = self.program.symbols.find(self.text(texts, *name)) else { return Some(false) };
        self.program.symbols.entry_mut(id).used = true;
        Some(self.program.symbols.entry(id).definition != Definition::None)
    }

    /// Returns the innermost condition opened in the current frame.
    fn innermost(&self) -> Option<&Condition> {
        let opened = self.frames.last().map_or(0, |frame| frame.conditions);
        self.conditions.get(opened..).and_then(<[Condition]>::last)
    }

    fn update(&mut self, active: bool, done: bool, last: bool) {
        if let Some(condition) = self.conditions.last_mut() {
            condition.active = active;
            condition.done |= done;
            condition.last |= last;
        }
    }

    pub(super) fn unbalanced(&mut self, span: Span, found: &str, wanted: &str) -> Option<()> {
        let message = format!("`{found}` has no `{wanted}` before it");
        self.fail(codes::UNBALANCED, span, message, format!("remove it, or add the `{wanted}`"))
    }

    /// Captures the lines up to the directive that ends a block, as a range of the source being read.
    fn captured(&mut self, span: Span, begin: &str, end: &str, texts: &Texts) -> Option<Body> {
        let mut depth = 0;
        let mut tokens = Vec::new();
        let mut labels = HashSet::new();
        let mut has_arguments = false;
        let frame = self.frames.last_mut()?;
        let (file, start, call) = (frame.file, frame.at, frame.call);
        let text = &texts.sources[file.0 as usize].text[..frame.end];
        while frame.at < frame.end {
            let line = frame.at;
            tokens.clear();
            frame.at = tokens::line(file, text, frame.at, &self.isa.assembly, &mut tokens);
            has_arguments |= tokens.iter().any(|token| token.is_mark('\\'));
            let Some(first) = tokens.first().filter(|token| token.kind == Kind::Word) else { continue };
            let in_text = |token: Token| &text[token.span.range()];
            let word = in_text(*first);
            let labelled = is_label(*first, tokens.get(1));
            let bare = || {
                let begins = |word: &str| self.forms.knows(word) || self.macros.contains_key(word);
                self.words.is_bare_label(&tokens, text, in_text, begins)
            };
            let means = self.words.directive(word).filter(|_| !labelled).unwrap_or("");
            let is_macro = begin == ".macro" && self.words.macro_after_name(&tokens, in_text).is_some();
            if means == begin || is_macro {
                depth += 1;
            } else if means == end || called_here(&word.to_ascii_lowercase()) == Some(end) {
                if depth == 0 {
                    let renamed = (means != end).then(|| renamed(word, end, first.span));
                    let read = frame.at - start;
                    self.spend(call, read);
                    renamed.into_iter().for_each(|diagnostic| self.report(diagnostic));
                    return Some(Body { file, start, end: line, labels: Rc::new(labels), has_arguments });
                }
                depth -= 1;
            } else if let (0, Some(local)) = (depth, self.words.local(word))
                && (labelled || bare())
            {
                labels.insert(local.to_owned());
            }
        }
        self.program.is_incomplete = true;
        let message = format!("this `{begin}` is not closed");
        self.fail(codes::UNBALANCED, span, message, format!("end it with `{end}` on a line of its own"))
    }

    /// Begins to read a body on behalf of a call.
    fn begin(&mut self, body: &Body, call: u32, name: &str, replaced: Rc<Replaced>, turns: Option<Turns>) {
        let held = replaced.values().map(Vec::len).sum();
        self.spend(call, held);
        self.held += held;
        if self.held > limits::LINE_TOKENS && !self.gave_up {
            self.gave_up = true;
            let message = format!("the arguments of macros have more than {} words and marks", limits::LINE_TOKENS);
            let help = "a macro that uses itself with a longer argument grows without end";
            self.fail::<()>(codes::TOO_LARGE, self.line, message, help);
        }
        let place = Span::new(body.file, body.start, body.end);
        self.context.scopes.push(Scope {
            prefix: format!("{name}@{call}"),
            labels: Rc::clone(&body.labels),
            body: place,
        });
        self.frames.push(Frame {
            file: body.file,
            at: body.start,
            end: body.end,
            replaced,
            held,
            call,
            conditions: self.conditions.len(),
            ended: Ended::No,
            kind: FrameKind::Body(turns),
        });
    }

    /// `.macro name a, b = 5` … `.endm`
    pub(super) fn macro_definition(
        &mut self,
        tokens: &[Token],
        name: Option<Token>,
        parameters: &[Token],
        texts: &Texts,
    ) -> Option<()> {
        let span = self.whole(tokens);
        let body = self.captured(span, ".macro", ".endm", texts);
        let Some(name) = name.filter(|token| token.kind == Kind::Word) else {
            return self.fail(codes::BAD_DIRECTIVE, span, "this macro has no name", "as in `.macro print text`");
        };
        let name_text = self.text(texts, name).to_owned();
        if self.macros.contains_key(&name_text) {
            let message = format!("the macro `{name_text}` is defined twice");
            return self.fail(codes::DEFINED_TWICE, name.span, message, "rename one of them");
        }
        let listed = parameters;
        let mut parameters = Vec::new();
        for part in split(listed).into_iter().flat_map(blanks) {
            let [parameter, default @ ..] = part else { continue };
            let fine = parameter.kind == Kind::Word && default.first().is_none_or(|mark| mark.is_mark('='));
            if !fine {
                let help = "as in `.macro print text, count = 1`";
                return self.fail(codes::BAD_DIRECTIVE, parameter.span, "this is not a parameter", help);
            }
            let default = (!default.is_empty()).then(|| default[1..].to_vec());
            let name = self.text(texts, *parameter).to_owned();
            if parameters.iter().any(|(known, _)| *known == name) {
                let message = format!("the parameter `{name}` is listed twice");
                return self.fail(codes::BAD_DIRECTIVE, parameter.span, message, "rename one of them");
            }
            parameters.push((name, default));
        }
        self.program.macros.push(Name {
            name: name_text.clone(),
            kind: NameKind::Macro,
            definition: Some(name.span),
            uses: Vec::new(),
        });
        let number = self.program.macros.len() - 1;
        let found = Macro { name: name_text.clone(), number, parameters, body: body? };
        self.macros.insert(name_text, Rc::new(found));
        Some(())
    }

    /// Expands a macro: its lines come next, parameters replaced.
    pub(super) fn expand(&mut self, found: &Macro, tokens: &[Token], texts: &Texts) {
        let span = self.whole(tokens);
        self.program.macros[found.number].uses.push(tokens[0].span);
        let given = split(&tokens[1..]);
        let is_numbered = found.body.has_arguments;
        if given.len() > found.parameters.len() && !(is_numbered && found.parameters.is_empty()) {
            let count = found.parameters.len();
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("`{}` takes {count} argument{plural}, found {}", found.name, given.len());
            self.fail::<()>(codes::MACRO_ARGUMENTS, span, message, "remove the extra ones");
            return;
        }
        let mut replaced = Replaced::default();
        if is_numbered {
            let numbered = given.iter().enumerate().map(|(at, part)| (format!("\\{}", at + 1), part.to_vec()));
            replaced.extend(numbered);
        }
        for (at, (parameter, default)) in found.parameters.iter().enumerate() {
            let given = given.get(at).filter(|part| !part.is_empty()).map(|part| part.to_vec());
            // A default may use the parameters before it.
            let value = given.or_else(|| replace(default.as_ref()?, &replaced, texts, &mut self.made));
            let Some(value) = value else {
                let message = format!("`{}` needs a value for `{parameter}`", found.name);
                self.fail::<()>(codes::MACRO_ARGUMENTS, span, message, "add it after a `,`");
                return;
            };
            replaced.insert(parameter.clone(), value);
        }
        let Some(call) = self.enter(CallKind::Macro, &found.name, span) else { return };
        number(&found.body, call, span, &mut replaced);
        self.begin(&found.body, call, &found.name, Rc::new(replaced), None);
    }

    /// `.rept count, counter` … `.endr`
    pub(super) fn repetition(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let span = self.whole(tokens);
        let outer = Rc::clone(&self.frames.last()?.replaced);
        let body = self.captured(span, ".rept", ".endr", texts)?;
        let parts = split(&tokens[1..]);
        if parts.len() > 2 {
            return self.bad_directive(tokens, texts, "expected a count, and perhaps a name for the counter");
        }
        let count = self.known(parts.first().copied().unwrap_or(&[]), span, texts)?;
        if !(0..=limits::REPETITIONS).contains(&count) {
            let message = format!("cannot repeat {count} times");
            let help = format!("0 to {} times are possible", limits::REPETITIONS);
            return self.fail(codes::TOO_MANY, span, message, help);
        }
        let counter = match parts.get(1) {
            Some([name]) if name.kind == Kind::Word => Some(self.text(texts, *name).to_owned()),
            Some(_) => {
                return self.fail(codes::BAD_DIRECTIVE, span, "the counter must be a name", "as in `.rept 8, n`");
            }
            None => None,
        };
        self.next_turn(Turns { body, span, turn: 0, count, counter, outer })
    }

    /// Begins the next turn of a repetition, if any.
    pub(super) fn next_turn(&mut self, mut turns: Turns) -> Option<()> {
        if turns.turn >= turns.count {
            return Some(());
        }
        let call = self.enter(CallKind::Repetition, ".rept", turns.span)?;
        let mut replaced = Rc::clone(&turns.outer);
        if let Some(counter) = &turns.counter {
            let number = Token { kind: Kind::Number(turns.turn), span: turns.span, made: 0 };
            Rc::make_mut(&mut replaced).insert(counter.clone(), vec![number]);
        }
        if turns.body.has_arguments {
            number(&turns.body, call, turns.span, Rc::make_mut(&mut replaced));
        }
        turns.turn += 1;
        self.begin(&turns.body.clone(), call, ".rept", replaced, Some(turns));
        Some(())
    }
}

/// Adds a call's number to the arguments if the body uses arguments.
fn number(body: &Body, call: u32, span: Span, replaced: &mut Replaced) {
    if body.has_arguments {
        let number = Token { kind: Kind::Number(call.into()), span, made: 0 };
        replaced.insert(TURN.to_owned(), vec![number]);
    }
}

/// Splits words that only blanks separate into parameters; any other part is one parameter with its default.
fn blanks(part: &[Token]) -> Vec<&[Token]> {
    let words = part.iter().all(|token| token.kind == Kind::Word);
    if words { part.chunks(1).collect() } else { vec![part] }
}

/// Splits at commas outside parentheses and brackets; no tokens give no parts.
pub(super) fn split(tokens: &[Token]) -> Vec<&[Token]> {
    if tokens.is_empty() {
        return Vec::new();
    }
    let mut depth = 0i32;
    tokens
        .split(|token| {
            match token.kind {
                Kind::Mark('(' | '[' | '{') => depth += 1,
                Kind::Mark(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            depth == 0 && token.is_mark(',')
        })
        .collect()
}
