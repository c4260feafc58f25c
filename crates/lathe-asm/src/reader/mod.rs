//! Reads a program into items: line by line, through includes, macros, repetitions and conditions.

mod blocks;
mod data;
mod directives;
mod known;
mod unknown;

use std::ops::Range;
use std::rc::Rc;

use lathe_base::files::Files;
use lathe_base::numbers::{ByName, NameSet};
use lathe_base::{Code, Diagnostic, Diagnostics, FileId, Source, Span, limits};
use lathe_isa::Isa;
use lathe_isa::model::{Assembly, MemoryId};

use crate::codes;
use crate::expression::{ExprId, NoValue};
use crate::forms::{Choice, Forms, add_choice};
use crate::image::Image;
use crate::layout::{in_calls, no_value};
use crate::lines::{Call, CallKind};
use crate::parser::{Context, Reading, is_here, numbered_label};
use crate::program::{Item, ItemKind, Program, Texts};
use crate::symbols::{Definition, SymbolId};
use crate::tokens::{self, Bad, Kind, Token};
use crate::words::Words;

use blocks::{Condition, Macro, Turns};
pub use known::KnownLines;
use known::Lengths;

/// A program that has been read, with its texts.
pub(crate) struct Read {
    pub(crate) program: Program,
    pub(crate) sources: Vec<Source>,
}

/// Reads the program that begins with `main`.
pub(crate) fn read(
    isa: &Isa,
    files: &dyn Files,
    main: Source,
    definitions: &[(String, i128)],
    known: Option<&mut KnownLines>,
    diagnostics: &mut Diagnostics,
) -> Read {
    let mut reader = Reader::new(isa, files, known, diagnostics);
    reader.program.symbols.caseless = isa.assembly.caseless_labels;
    for (name, value) in definitions {
        let id = reader.program.symbols.intern(name, Span::default());
        let entry = reader.program.symbols.entry_mut(id);
        entry.definition = Definition::Number(*value);
        entry.used = true;
    }
    reader.open(main, Span::default(), 0);
    reader.lines();
    reader.report_unknown();
    let texts = Rc::try_unwrap(reader.texts).unwrap_or_else(|shared| (*shared).clone());
    Read { program: reader.program, sources: texts.sources }
}

/// Warns about unused labels. This makes sense only for a program without errors: a line that could not be read may
/// have used any label.
pub(crate) fn unused_labels(program: &Program, image: &Image, isa: &Isa, diagnostics: &mut Diagnostics) {
    let start = Definition::Label(isa.pc.memory, Some(image.start(isa).into()));
    for (_, entry) in program.symbols.iter() {
        // A label where execution begins is for the reader.
        let is_label = matches!(entry.definition, Definition::Label(..)) && entry.definition != start;
        // Labels of libraries need not all be used, and those of macros belong to the macro.
        let own = entry.span.file == FileId(0) && !entry.name.contains(['@', ':']);
        if is_label && own && !entry.used && !entry.exported {
            let message = format!("the label `{}` is never used", entry.name);
            let help = format!("remove it, or write `.export {}` if other programs use it", entry.name);
            diagnostics.push(Diagnostic::new(codes::UNUSED_LABEL, entry.span, message).help(help));
        }
    }
}

struct Reader<'r> {
    isa: &'r Isa,
    files: &'r dyn Files,
    /// Lines that were read before, if the caller keeps them.
    known: Option<&'r mut KnownLines>,
    /// The bytes of the line being read, if it is exactly one line of a file, unchanged.
    whole_line: Option<Range<usize>>,
    forms: Forms<'r>,
    words: Words,
    diagnostics: &'r mut Diagnostics,
    program: Program,
    /// Shared, so that a line can be read while the program grows.
    texts: Rc<Texts>,
    /// Words made by macros that have not been added to the texts yet.
    made: Vec<Box<str>>,
    frames: Vec<Frame>,
    conditions: Vec<Condition>,
    macros: ByName<Rc<Macro>>,
    memory: MemoryId,
    /// The machine's current modes, as bits of a window.
    modes: u128,
    /// What names mean in the line being read.
    context: Context,
    /// Lines that begin with no known word; a macro of that name may come later.
    unknown: Vec<(String, Diagnostic)>,
    /// The span of the line being read.
    line: Span,
    /// A file to read after this line, and where the line names it.
    included: Option<(Source, Span)>,
    expansions: usize,
    /// Bytes read by calls.
    expanded: usize,
    /// Tokens that open macros and repetitions have substituted for names.
    held: usize,
    gave_up: bool,
}

/// What names stand for inside a macro or repetition.
type Replaced = ByName<Vec<Token>>;

/// A piece of text being read.
struct Frame {
    file: FileId,
    at: usize,
    end: usize,
    /// What names stand for inside a macro or repetition.
    replaced: Rc<Replaced>,
    /// The number of those tokens.
    held: usize,
    /// The call, as a position in the program's calls plus one.
    call: u32,
    /// How many conditions were open before this piece.
    conditions: usize,
    /// Whether `.end` has been read.
    ended: Ended,
    kind: FrameKind,
}

/// Whether `.end` has ended a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    /// `.end` has been read; reading resumes at the next `.org`.
    Yes,
    /// A line after `.end` has been reported.
    Told,
}

enum FrameKind {
    /// A file.
    File,
    /// The body of a macro, or of a repetition with more turns to come.
    Body(Option<Turns>),
}

impl<'r> Reader<'r> {
    fn new(
        isa: &'r Isa,
        files: &'r dyn Files,
        known: Option<&'r mut KnownLines>,
        diagnostics: &'r mut Diagnostics,
    ) -> Self {
        Reader {
            isa,
            files,
            known,
            whole_line: None,
            forms: Forms::new(isa),
            words: Words::new(isa),
            diagnostics,
            program: Program::default(),
            texts: Rc::default(),
            made: Vec::new(),
            frames: Vec::new(),
            conditions: Vec::new(),
            macros: ByName::default(),
            memory: isa.pc.memory,
            modes: isa.modes_at_reset(),
            context: Context { reserved: reserved(isa), habits: isa.assembly.clone(), ..Context::default() },
            unknown: Vec::new(),
            line: Span::default(),
            included: None,
            expansions: 0,
            expanded: 0,
            held: 0,
            gave_up: false,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let (call, calls) = (self.call(), &self.program.calls);
        self.diagnostics.push_with(diagnostic.code, || in_calls(diagnostic, call, calls));
    }

    fn fail<T>(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.report(Diagnostic::new(code, span, message).help(help));
        None
    }

    fn call(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.call)
    }

    /// Begins to read the file that the previous line included.
    fn open_included(&mut self) {
        if let Some((source, span)) = self.included.take()
            && let Some(call) = self.enter(CallKind::Include, &source.name, span)
        {
            self.open(source, span, call);
        }
    }

    /// Begins to read a file. A file that was read before keeps its number.
    fn open(&mut self, source: Source, span: Span, call: u32) {
        let end = source.text.len();
        let same = |known: &Source| known.name == source.name && known.text == source.text;
        let known = self.texts.sources.iter().position(same);
        if end > limits::SOURCE_BYTES {
            let message = format!("`{}` has more than {} bytes", source.name, limits::SOURCE_BYTES);
            self.fail::<()>(codes::TOO_LARGE, span, message, "split it into several files");
            return;
        }
        if known.is_none() && self.texts.sources.len() >= limits::SOURCE_FILES {
            let message = format!("the program has more than {} files", limits::SOURCE_FILES);
            self.fail::<()>(codes::TOO_MANY, span, message, "put some of them together");
            return;
        }
        let file = FileId(known.unwrap_or(self.texts.sources.len()) as u32);
        if known.is_none() {
            Rc::make_mut(&mut self.texts).sources.push(source);
        }
        let conditions = self.conditions.len();
        self.frames.push(Frame {
            file,
            at: 0,
            end,
            replaced: Rc::default(),
            held: 0,
            call,
            conditions,
            ended: Ended::No,
            kind: FrameKind::File,
        });
    }

    /// Reads lines until none are left.
    fn lines(&mut self) {
        let mut tokens = Vec::new();
        while let Some(frame) = self.frames.last_mut() {
            if frame.at >= frame.end || self.gave_up {
                self.close_frame();
                continue;
            }
            tokens.clear();
            let mut texts = Rc::clone(&self.texts);
            let text = &texts.sources[frame.file.0 as usize].text[..frame.end];
            let (file, start) = (frame.file, frame.at);
            let is_plain = self.known.is_some() && frame.replaced.is_empty() && frame.ended == Ended::No;
            let line = start..if is_plain { end_of_line(text, start) } else { start };
            if is_plain && self.repeat(file, start, &text[line.clone()]) {
                let Some(frame) = self.frames.last_mut() else { break };
                frame.at = (line.end + 1).min(frame.end);
                let (call, read) = (frame.call, frame.at - start);
                self.spend(call, read);
                self.check_size();
                continue;
            }
            let Some(frame) = self.frames.last_mut() else { break };
            frame.at = tokens::line(frame.file, text, frame.at, &self.isa.assembly, &mut tokens);
            self.whole_line = Some(line).filter(|line| is_plain && frame.at == (line.end + 1).min(frame.end));
            let (call, read) = (frame.call, frame.at - start);
            if tokens.is_empty() {
                self.spend(call, read);
                continue;
            }
            self.line = tokens[0].span.to(tokens[tokens.len() - 1].span);
            if frame.ended != Ended::No && !self.goes_on(tokens[0], &texts) {
                continue;
            }
            let Some(frame) = self.frames.last_mut() else { break };
            if !frame.replaced.is_empty() {
                let replaced = Rc::clone(&frame.replaced);
                let Some(line) = replace(&tokens, &replaced, &texts, &mut self.made) else {
                    self.line_too_long(self.line);
                    continue;
                };
                tokens = line;
                if !self.made.is_empty() {
                    drop(texts);
                    self.keep_made();
                    texts = Rc::clone(&self.texts);
                }
            }
            self.spend(call, read.max(tokens.len()));
            self.line(&tokens, &texts);
            self.context.here = None;
            // Adding a text while this reference is alive would copy all of them.
            drop(texts);
            self.keep_made();
            self.open_included();
            self.check_size();
        }
    }

    /// Adds the words made by macros to the texts.
    fn keep_made(&mut self) {
        if !self.made.is_empty() {
            Rc::make_mut(&mut self.texts).made.append(&mut self.made);
        }
    }

    /// Whether a line after `.end` is an `.org`, where reading resumes. Lines before it are not read.
    fn goes_on(&mut self, first: Token, texts: &Texts) -> bool {
        let goes_on = self.words.directive(self.text(texts, first)) == Some(".org");
        let Some(frame) = self.frames.last_mut() else { return false };
        let before = std::mem::replace(&mut frame.ended, if goes_on { Ended::No } else { Ended::Told });
        if before == Ended::Yes && !goes_on {
            let message = "this line comes after `.end` and is not read";
            let help = "remove the `.end` before it, or the lines after it; `.org` begins another part";
            self.fail::<()>(codes::AFTER_END, self.line, message, help);
        }
        goes_on
    }

    /// Gives up on a program that has grown too large.
    fn check_size(&mut self) {
        let (items, nodes) = (self.program.items.len(), self.program.expressions.len());
        let message = if items > limits::PROGRAM_ITEMS {
            format!("a program has at most {} lines with an effect", limits::PROGRAM_ITEMS)
        } else if nodes > limits::EXPRESSION_NODES {
            format!("a program has at most {} numbers, names and operators", limits::EXPRESSION_NODES)
        } else {
            return;
        };
        self.fail::<()>(codes::TOO_MANY, self.line, message, "repeat less, or use `.incbin` for data");
        self.gave_up = true;
    }

    /// Counts text read by a call. Files that are read once have a limit of their own.
    fn spend(&mut self, call: u32, bytes: usize) {
        if call == 0 || self.gave_up {
            return;
        }
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded > limits::EXPANDED_BYTES {
            self.gave_up = true;
            let message =
                format!("macros, repetitions and includes make more than {} bytes of text", limits::EXPANDED_BYTES);
            let help = "repeat less; a macro that uses itself with a longer argument grows without end";
            self.fail::<()>(codes::TOO_MANY, self.line, message, help);
        }
    }

    fn close_frame(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let open = frame.conditions;
        while self.conditions.len() > open {
            if let Some(condition) = self.conditions.pop() {
                let message = "this `.if` is not closed";
                self.fail::<()>(codes::UNBALANCED, condition.span, message, "end it with `.endif`");
            }
        }
        let closed = self.frames.pop().map(|frame| {
            self.held -= frame.held;
            frame.kind
        });
        if let Some(FrameKind::Body(turns)) = closed {
            self.context.scopes.pop();
            if let Some(turns) = turns.filter(|_| !self.gave_up) {
                self.next_turn(turns);
            }
        }
    }

    fn text<'s>(&self, texts: &'s Texts, token: Token) -> &'s str {
        texts.of(token)
    }

    /// Returns the whole text of the source that a token is in.
    fn source<'s>(&self, texts: &'s Texts, token: Token) -> &'s str {
        &texts.sources[token.span.file.0 as usize].text
    }

    /// Reads one line: labels, then a directive, a definition, a macro call, or an instruction.
    fn line(&mut self, tokens: &[Token], texts: &Texts) {
        if let Some(bad) = tokens.iter().position(|token| matches!(token.kind, Kind::Bad(_))) {
            if self.active() {
                // Define the line's labels anyway, so that their uses are not reported.
                self.labels(&tokens[..bad], texts);
                self.bad_token(tokens[bad]);
            }
            return;
        }
        let first = tokens[0];
        if self.active() && names_the_current_address(tokens, &self.isa.assembly) {
            self.context.here = Some(self.hidden_label(first.span));
        }
        let labelled = is_label(first, tokens.get(1));
        if first.kind == Kind::Word && !labelled && self.condition_directive(tokens, texts) {
            return;
        }
        if !self.active() {
            return;
        }
        if let Some((name, parameters)) = self.words.macro_after_name(tokens, |token| texts.of(token)) {
            self.macro_definition(tokens, Some(name), parameters, texts);
            return;
        }
        let rest = self.labels(tokens, texts);
        let Some(first) = rest.first().copied() else { return };
        if first.is_mark('*') && rest.get(1).is_some_and(|next| next.is_mark('=')) {
            self.origin(&rest[2..], first.span, texts);
            return;
        }
        let after_label = rest.len() < tokens.len() && first.kind == Kind::Word;
        if after_label && self.condition_directive(rest, texts) {
            return;
        }
        if first.kind != Kind::Word {
            if self.instruction_begins_with(texts, first) {
                return self.instruction(rest, texts);
            }
            let found = self.text(texts, first).to_owned();
            let message = format!("a line cannot begin with `{found}`");
            let defines = rest.get(1).is_some_and(|next| self.text(texts, *next) == "define");
            let help = match defines {
                true => "a constant is written `NAME = 5`",
                false => "a line is a label, a directive such as `.byte 5`, or an instruction",
            };
            self.fail::<()>(codes::EXPECTED, first.span, message, help);
            return;
        }
        let word = self.text(texts, first);
        let defines = self.words.defines(rest, |token| texts.of(token));
        if let Some((marks, means)) = defines.filter(|_| !word.starts_with('.')) {
            let means = Defines::of(means);
            self.definition(first, means, &rest[1 + marks..], texts);
            return;
        }
        // A macro may be called like a directive without its dot.
        let is_directive = self.words.directive(word).is_some() && !self.macros.contains_key(word);
        if word.starts_with('.') || is_directive {
            return self.directive(rest, texts);
        }
        if let Some(found) = self.macros.get(word).cloned() {
            return self.expand(&found, rest, texts);
        }
        self.instruction(rest, texts);
    }

    fn instruction_begins_with(&self, texts: &Texts, first: Token) -> bool {
        self.forms.knows(self.text(texts, first))
    }

    fn line_too_long(&mut self, span: Span) {
        let message = format!("this line has more than {} words and marks", limits::LINE_TOKENS);
        self.fail::<()>(codes::TOO_LARGE, span, message, "split it into several lines");
    }

    fn bad_token(&mut self, token: Token) {
        let Kind::Bad(bad) = token.kind else { return };
        self.program.is_incomplete |= bad == Bad::Comment;
        let (code, message, help) = match bad {
            Bad::Number if self.isa.assembly.octal_numbers => (
                codes::BAD_NUMBER,
                "this is not an octal number",
                "numbers are octal on this machine; write 0x2A, 0b101010, or the digits 0 to 7",
            ),
            Bad::Number => (
                codes::BAD_NUMBER,
                "this is not a number",
                "numbers are written 42, 0x2A, $2A, 0b101010, %101010 or 0o52 and have at most 127 bits",
            ),
            Bad::Character => {
                let help = "one character is written 'a', '\\n', '\\x7F' or '\\''; several are a text: \"abc\"";
                (codes::UNCLOSED, "this character has no closing quote", help)
            }
            Bad::Text => (codes::UNCLOSED, "this text has no closing quote", "end it with `\"` on the same line"),
            Bad::Comment => (codes::UNCLOSED, "this comment is not closed", "end it with `*/`"),
            Bad::TooMany => return self.line_too_long(token.span),
        };
        self.fail::<()>(code, token.span, message, help);
    }

    /// Defines the labels at the beginning of a line; returns what follows them.
    fn labels<'t>(&mut self, tokens: &'t [Token], texts: &Texts) -> &'t [Token] {
        let mut rest = tokens;
        loop {
            match rest {
                [colon, ..] if colon.is_mark(':') => {
                    self.context.anonymous += 1;
                    let name = format!(":{}", self.context.anonymous);
                    self.label(&name, colon.span);
                    rest = &rest[1..];
                }
                [number, colon, tail @ ..] if is_numbered_label(*number, *colon) => {
                    let digits = self.text(texts, *number).to_owned();
                    let times = self.context.numbered.entry(digits.clone()).or_default();
                    *times += 1;
                    let name = numbered_label(&digits, *times);
                    self.label(&name, number.span);
                    rest = tail;
                }
                [word, colon, tail @ ..] if is_label(*word, Some(colon)) && !self.is_assigned(rest, texts) => {
                    self.named_label(*word, texts);
                    rest = tail;
                }
                [word, tail @ ..] if rest.len() == tokens.len() && self.is_bare_label(rest, texts) => {
                    self.named_label(*word, texts);
                    rest = tail;
                }
                _ => return rest,
            }
        }
    }

    /// Whether a word can begin a line, labels aside.
    fn begins_line(&self, word: &str) -> bool {
        word.starts_with('.') || self.words.directive(word).is_some() || self.begins_call(word)
    }

    /// Whether an instruction or a macro call can begin with a word.
    fn begins_call(&self, word: &str) -> bool {
        self.forms.knows(word) || self.macros.contains_key(word)
    }

    /// Whether a word is a label although no colon follows it.
    fn is_bare_label(&self, rest: &[Token], texts: &Texts) -> bool {
        let [word, ..] = rest else { return false };
        let source = self.source(texts, *word);
        self.words.is_bare_label(rest, source, |token| texts.of(token), |word| self.begins_call(word))
    }

    /// Whether the first token is followed by `:=`, which is not a label's colon.
    fn is_assigned(&self, rest: &[Token], texts: &Texts) -> bool {
        self.words.defines(rest, |token| texts.of(token)).is_some()
    }

    fn named_label(&mut self, word: Token, texts: &Texts) {
        let text = self.text(texts, word);
        if let Some(local) = self.words.local(text) {
            let name = self.context.local_name(local, word.span);
            self.label(&name, word.span);
            return;
        }
        if self.context.is_reserved(text) {
            let message = format!("`{text}` is a name of the machine and cannot be a label");
            self.fail::<()>(codes::RESERVED, word.span, message, format!("choose another name, such as `{text}_`"));
            return;
        }
        self.label(text, word.span);
        self.context.owner.clear();
        self.context.owner.push_str(text);
    }

    fn label(&mut self, name: &str, span: Span) {
        let id = self.program.symbols.intern(name, span);
        if self.define(id, Definition::Label(self.memory, None), span) {
            self.push(ItemKind::Label(id), span);
        }
    }

    /// Defines a label at this address without a name of its own.
    fn hidden_label(&mut self, span: Span) -> SymbolId {
        let name = format!(":${}", self.program.items.len());
        let id = self.program.symbols.intern(&name, span);
        if self.define(id, Definition::Label(self.memory, None), span) {
            self.push(ItemKind::Label(id), span);
        }
        id
    }

    fn define(&mut self, id: SymbolId, definition: Definition, span: Span) -> bool {
        let Err(first) = self.program.symbols.define(id, definition, span) else { return true };
        let name = self.program.symbols.entry(id).name.to_string();
        let mut diagnostic = Diagnostic::new(codes::DEFINED_TWICE, span, format!("`{name}` is defined twice"));
        if first != Span::default() {
            diagnostic = diagnostic.also(first, "first defined here");
        }
        self.report(diagnostic.help("rename one of them; `.name:` is a label of its own under every full label"));
        false
    }

    /// Returns the span of some tokens of the line, or of the whole line if a macro put some of them there.
    fn whole(&self, tokens: &[Token]) -> Span {
        let inside = |token: &Token| {
            token.span.file == self.line.file && token.span.start >= self.line.start && token.span.end <= self.line.end
        };
        match tokens {
            [first, .., last] if tokens.iter().all(inside) => first.span.to(last.span),
            [only] if inside(only) => only.span,
            _ => self.line,
        }
    }

    fn push(&mut self, kind: ItemKind, span: Span) {
        let call = self.call();
        self.program.items.push(Item { kind, span, call });
    }

    /// `name = …`
    fn definition(&mut self, name: Token, defines: Defines, value: &[Token], texts: &Texts) -> Option<()> {
        let text = self.text(texts, name);
        if self.context.is_reserved(text) {
            let message = format!("`{text}` is a name of the machine and cannot be a constant");
            return self.fail(codes::RESERVED, name.span, message, format!("choose another name, such as `{text}_`"));
        }
        let expr = self.whole_expression(value, name.span, texts);
        let id = match defines {
            Defines::Once => self.program.symbols.intern(text, name.span),
            Defines::Again => self.program.symbols.intern_again(text, name.span),
        };
        let Some(expr) = expr else {
            // Uses of the name should not be blamed for an error in its value.
            let _ = self.program.symbols.define(id, Definition::Broken, name.span);
            return None;
        };
        let program = &mut self.program;
        let known = program.expressions.value(expr, None, &mut program.symbols);
        let definition = match known {
            Ok(value) if value.memory.is_none() => Definition::Number(value.number),
            _ => Definition::Constant(expr),
        };
        self.define(id, definition, name.span).then_some(())
    }

    /// Begins to read tokens with what the program knows so far.
    fn reading<'t, 'p>(&'p mut self, tokens: &'t [Token], texts: &'p Texts) -> Reading<'t, 'p> {
        let names = self.program.names(texts, &self.context);
        Reading::new(tokens, names)
    }

    /// Reads one expression that takes all the tokens.
    fn whole_expression(&mut self, tokens: &[Token], span: Span, texts: &Texts) -> Option<ExprId> {
        if tokens.is_empty() {
            return self.fail(codes::EXPECTED, span, "expected a value", "write a number, a name or an expression");
        }
        let mut reading = self.reading(tokens, texts);
        let result = reading.expression();
        let (at, place) = (reading.at, reading.place());
        let problem = result.as_ref().err().map(|problem| reading.no_expression(problem));
        match result {
            Ok(expr) if at == tokens.len() => Some(expr),
            Ok(_) => {
                let found = tokens.get(at).map_or("", |token| self.text(texts, *token));
                let message = format!("unexpected `{found}` after a value");
                self.fail(codes::EXPECTED, place, message, "an operator or a `,` is missing before it")
            }
            Err(_) => {
                problem.into_iter().for_each(|problem| self.report(problem));
                None
            }
        }
    }

    /// Evaluates a number that must be known now.
    fn known(&mut self, tokens: &[Token], span: Span, texts: &Texts) -> Option<i128> {
        let expr = self.whole_expression(tokens, span, texts)?;
        let program = &mut self.program;
        match program.expressions.value(expr, None, &mut program.symbols) {
            Ok(value) => Some(value.number),
            Err(NoValue::Broken) => None,
            Err(NoValue::Undefined(..)) if self.program.is_incomplete => None,
            Err(problem) => {
                let diagnostic = match problem {
                    NoValue::Undefined(id, span) => self.undefined_before(id, span),
                    other => no_value(&self.program, other),
                };
                self.report(diagnostic);
                None
            }
        }
    }

    /// Reports a name that has no value yet where one is needed now; it may be defined further down.
    fn undefined_before(&self, id: SymbolId, span: Span) -> Diagnostic {
        let name = self.program.symbols.entry(id).name.to_string();
        let message = format!("`{name}` is not defined before this line");
        let diagnostic = Diagnostic::new(codes::NOT_YET_KNOWN, span, message);
        match self.program.symbols.nearest(&name) {
            Some(meant) => diagnostic.did_you_mean(span, meant),
            None => diagnostic.help(format!("define it above, as `{name} = …`, or give it with `-D {name}=…`")),
        }
    }

    fn instruction(&mut self, tokens: &[Token], texts: &Texts) {
        let first = self.text(texts, tokens[0]);
        let before = Lengths::of(&self.program);
        let names = self.program.names(texts, &self.context);
        let mut reading = Reading::new(tokens, names);
        if let Some(mut choices) = self.forms.read(&mut reading) {
            let chosen_by = reading.chosen_by;
            let span = self.whole(tokens);
            if let Some(diagnostic) = self.keep_meant(&mut choices, span) {
                return self.report(diagnostic);
            }
            for choice in choices {
                let (first, count) = add_choice(&choice, &mut self.program.alternatives, &mut self.program.operands);
                self.push(ItemKind::Instruction { first, count, chosen: 0 }, span);
            }
            // The same line may mean something else in another mode.
            if span == self.line && self.forms.knows(first) && self.isa.modes.is_empty() {
                self.remember(tokens[0].span, before, chosen_by, texts);
            }
            return;
        }
        if self.diagnostics.is_full() {
            self.diagnostics.push_with(codes::NO_FORM, || Diagnostic::new(codes::NO_FORM, tokens[0].span, ""));
            return;
        }
        if let Some(diagnostic) = self.forms.explain(first, &mut reading) {
            return self.report(diagnostic);
        }
        let diagnostic = self.unknown_word(tokens, texts);
        self.define_if_label(tokens, texts);
        if self.unknown.len() < limits::DIAGNOSTICS {
            let diagnostic = in_calls(diagnostic, self.call(), &self.program.calls);
            self.unknown.push((first.to_owned(), diagnostic));
        } else {
            self.report(diagnostic);
        }
    }

    /// Keeps the instructions that exist in the modes of this line; returns a diagnostic if there are none.
    fn keep_meant(&self, choices: &mut [Choice], span: Span) -> Option<Diagnostic> {
        let mask = self.isa.mode_mask();
        for choice in choices.iter_mut().filter(|_| mask != 0) {
            let other = choice.first().map(|(id, _)| &self.isa.instruction(*id).encoding);
            choice.retain(|(id, _)| self.isa.instruction(*id).encoding.is_in(self.modes, mask));
            let Some(other) = other.filter(|_| choice.is_empty()) else { continue };
            let looked_at = other.fixed.mask & mask;
            let modes = self.isa.modes.iter().map(|(id, shift)| (self.isa.register(*id), *shift));
            let names: Vec<String> = modes
                .filter(|(mode, shift)| looked_at >> shift & u128::from(mode.width.mask()) != 0)
                .map(|(mode, shift)| format!("`{}` is {}", mode.name, mode.width.wrap((self.modes >> shift) as u64)))
                .collect();
            let message = format!("there is no such instruction where {}", names.join(" and "));
            let help = "the machine is in another mode here? tell the assembler with `.mode`";
            return Some(Diagnostic::new(codes::NO_FORM, span, message).help(help));
        }
        None
    }

    /// Reports lines that begin with an unknown word, now that all macros are known.
    fn report_unknown(&mut self) {
        if self.program.is_incomplete && self.diagnostics.has_errors() {
            return;
        }
        for (word, mut diagnostic) in std::mem::take(&mut self.unknown) {
            if self.macros.contains_key(&word) {
                diagnostic.message = format!("the macro `{word}` is defined only after this line");
                let help = "move its definition, or the `.include` that contains it, before its first use";
                (diagnostic.help, diagnostic.fixes) = (vec![help.into()], Vec::new());
            } else if let Some(meant) = self.macro_near(&word) {
                let span = diagnostic.primary.span;
                (diagnostic.help, diagnostic.fixes) = (vec![format!("did you mean the macro `{meant}`?")], Vec::new());
                diagnostic = diagnostic.fix(span, meant);
            }
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds a call, unless there have been too many.
    fn enter(&mut self, kind: CallKind, name: &str, span: Span) -> Option<u32> {
        self.expansions += 1;
        let depth = self.frames.iter().filter(|frame| matches!(frame.kind, FrameKind::Body(_))).count();
        if self.expansions > limits::EXPANSIONS {
            self.gave_up = true;
            let message = format!("macros, repetitions and includes are used more than {} times", limits::EXPANSIONS);
            return self.fail(codes::TOO_MANY, span, message, "repeat less");
        }
        if depth >= limits::MACRO_DEPTH && kind != CallKind::Include {
            self.gave_up = true;
            let message = format!("macros are nested more than {} deep", limits::MACRO_DEPTH);
            return self.fail(codes::TOO_DEEP, span, message, "a macro that uses itself needs an `.if` that ends it");
        }
        let parent = self.call();
        self.program.calls.push(Call { kind, name: name.to_owned(), span, parent });
        Some(self.program.calls.len() as u32)
    }
}

/// How often a constant may be defined.
#[derive(Clone, Copy)]
enum Defines {
    /// `.equ`
    Once,
    /// `.set`
    Again,
}

impl Defines {
    fn of(directive: &str) -> Defines {
        if directive == ".set" { Defines::Again } else { Defines::Once }
    }
}

/// Returns the machine's names that cannot be labels, in lowercase: names of operands, and words among operands. The
/// name of a flag that no instruction mentions is free.
fn reserved(isa: &Isa) -> NameSet {
    let names = isa.fields.iter().flat_map(|field| field.names().map(str::to_ascii_lowercase));
    let syntaxes = isa.instructions.iter().map(|instruction| &instruction.syntax);
    let pieces = syntaxes.chain(isa.pseudos.iter().map(|pseudo| &pseudo.syntax)).flat_map(|syntax| &syntax.pieces);
    let words = pieces.filter_map(|piece| Some(piece.kind.text()?.to_ascii_lowercase()));
    names.chain(words).collect()
}

/// Returns the end of the line that begins at `start`, without its newline.
fn end_of_line(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |length| start + length)
}

/// Whether a line may use the current address: `$`, or `*`, which may also be an operator.
fn names_the_current_address(tokens: &[Token], habits: &Assembly) -> bool {
    tokens.iter().any(|token| matches!(token.kind, Kind::Mark(mark) if is_here(mark, habits)))
}

/// Whether a word is a label: a colon directly follows. In `jmp :+` it does not.
fn is_label(word: Token, next: Option<&Token>) -> bool {
    word.kind == Kind::Word && next.is_some_and(|colon| colon.is_mark(':') && word.touches(*colon))
}

/// Whether a number is a label: a colon directly follows.
fn is_numbered_label(number: Token, colon: Token) -> bool {
    matches!(number.kind, Kind::Number(_)) && colon.is_mark(':') && number.touches(colon)
}

/// Replaces names in a line by what they stand for, unless it gets too long. Words that touch an argument such as `\1`
/// are joined with it into one word, which is added to `made`.
fn replace(tokens: &[Token], replaced: &Replaced, texts: &Texts, made: &mut Vec<Box<str>>) -> Option<Vec<Token>> {
    let mut result: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let (argument, length) = argument(&tokens[at..], replaced, texts);
        let (first, last) = (tokens[at], tokens[at + length - 1]);
        at += length;
        let Some(stands_for) = argument else {
            result.push(first);
            continue;
        };
        let after = tokens.get(at).copied().filter(|next| last.touches(*next));
        let before = result.last().copied().filter(|word| word.kind == Kind::Word && word.touches(first));
        let (before, tail) = match length {
            1 => (None, None),
            _ => (before, after.filter(|next| next.kind == Kind::Word)),
        };
        let is_label = after.is_some_and(|next| next.is_mark(':'));
        match stands_for {
            [only] if matches!(only.kind, Kind::Word | Kind::Number(_)) && (is_label || before.or(tail).is_some()) => {
                let text = |token: Token| match (token.made as usize).checked_sub(texts.made.len() + 1) {
                    Some(new) => made[new].clone(),
                    None => texts.of(token).into(),
                };
                let number = if let Kind::Number(number) = only.kind { format!("@{number}") } else { String::new() };
                let middle = if matches!(last.kind, Kind::Mark('@' | '?')) { number.into() } else { text(*only) };
                let word: String = [before.map(text), Some(middle), tail.map(text)].into_iter().flatten().collect();
                result.truncate(result.len() - usize::from(before.is_some()));
                at += usize::from(tail.is_some());
                let span = before.unwrap_or(first).span.to(tail.unwrap_or(last).span);
                made.push(word.into());
                result.push(Token { kind: Kind::Word, span, made: (texts.made.len() + made.len()) as u32 });
            }
            several => result.extend_from_slice(several),
        }
        if result.len() > limits::LINE_TOKENS {
            return None;
        }
    }
    Some(result)
}

/// Returns what the first of these tokens stand for, and how many they are: a name, or `\1`, `\name` or `\@`.
fn argument<'r>(tokens: &[Token], replaced: &'r Replaced, texts: &Texts) -> (Option<&'r [Token]>, usize) {
    let found = |name: &str| replaced.get(name).map(Vec::as_slice);
    match tokens {
        [mark, name, ..] if mark.is_mark('\\') && mark.touches(*name) => {
            let stands_for = match name.kind {
                Kind::Word => found(texts.of(*name)),
                // An omitted argument is empty.
                Kind::Number(_) => {
                    found(&format!("\\{}", texts.of(*name))).or_else(|| found(TURN).map(|_| [].as_slice()))
                }
                Kind::Mark('@' | '?') => found(TURN),
                _ => None,
            };
            (stands_for, if stands_for.is_some() { 2 } else { 1 })
        }
        [word, ..] if word.kind == Kind::Word => (found(texts.of(*word)), 1),
        _ => (None, 1),
    }
}

/// The name of the number that differs in each use of a macro.
const TURN: &str = "\\@";
