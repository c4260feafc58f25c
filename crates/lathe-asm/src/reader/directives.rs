//! Directives, except those that form blocks and those that lay down data.

use lathe_base::{Diagnostic, Source, Span, limits, nearest};
use lathe_isa::language::ast::Binary;

use super::blocks::split;
use super::{Defines, Ended, FrameKind, Reader};
use crate::codes;
use crate::expression::{ExprId, NodeKind};
use crate::layout::memory_of;
use crate::program::{ItemKind, Texts};
use crate::tokens::{Kind, Token, text_bytes};
use crate::words::{DIRECTIVES, Directive};

/// Other assemblers' names for directives; the name here is empty if the directive is not needed.
const ELSEWHERE: [(&str, &str); 34] = [
    (".db", ".byte"),
    (".dc", ".byte"),
    (".dw", ".word"),
    (".dd", ".le32"),
    (".defb", ".byte"),
    (".defw", ".word"),
    (".defs", ".space"),
    (".fcb", ".byte"),
    (".fdb", ".word"),
    (".rmb", ".space"),
    (".long", ".le32"),
    (".int", ".le32"),
    (".string", ".asciiz"),
    (".asciz", ".asciiz"),
    (".global", ".export"),
    (".globl", ".export"),
    (".res", ".space"),
    (".ds", ".space"),
    (".skip", ".space"),
    (".define", ".equ"),
    (".endmacro", ".endm"),
    (".mend", ".endm"),
    (".rep", ".rept"),
    (".repeat", ".rept"),
    (".endrep", ".endr"),
    (".endrepeat", ".endr"),
    (".elseif", ".elif"),
    (".elsif", ".elif"),
    (".fi", ".endif"),
    (".text", ""),
    (".code", ""),
    (".data", ""),
    (".bss", ""),
    (".rodata", ""),
];

/// Returns the name here of another assembler's directive.
pub(super) fn called_here(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(name, _)| *name == word).map(|(_, meant)| *meant)
}

/// Returns the directive meant by a word without its dot, or by another assembler's name.
pub(super) fn directive_for(word: &str) -> Option<&'static str> {
    let dotted = format!(".{}", word.trim_start_matches('.').to_ascii_lowercase());
    let known = Directive::named(&dotted).map(|one| one.name);
    let elsewhere = ELSEWHERE.iter().find(|(name, meant)| *name == dotted && !meant.is_empty());
    known.or(elsewhere.map(|(_, meant)| *meant))
}

/// Reports a directive that has another name here.
pub(super) fn renamed(word: &str, meant: &str, span: Span) -> Diagnostic {
    let example = Directive::named(meant).map_or("", |one| one.example);
    let diagnostic = Diagnostic::new(codes::UNKNOWN_DIRECTIVE, span, format!("there is no directive `{word}`"));
    let example = if example == meant { String::new() } else { format!(", as in `{example}`") };
    diagnostic.help(format!("did you mean `{meant}`{example}?")).fix(span, meant)
}

impl Reader<'_> {
    pub(super) fn directive(&mut self, tokens: &[Token], texts: &Texts) {
        let written = self.text(texts, tokens[0]).to_ascii_lowercase();
        let word = self.meant_directive(&written, tokens, texts);
        let _ = match word.as_str() {
            ".machine" => self.machine(tokens, texts),
            ".org" => self.one(tokens, texts).map(|address| self.push(ItemKind::Origin(address), self.whole(tokens))),
            "" => None,
            ".end" => self.end_of_file(tokens, texts),
            ".align" if tokens.len() == 1 => {
                let to = self.program.expressions.number(2, tokens[0].span);
                self.push(ItemKind::Align { to, fill: None }, tokens[0].span);
                Some(())
            }
            ".align" => self.counted(tokens, texts, |to, fill| ItemKind::Align { to, fill }),
            ".p2align" => self.power_align(tokens, texts),
            ".fill" | ".space" => self.counted(tokens, texts, |count, fill| ItemKind::Space { count, fill }),
            ".equ" | ".set" => self.equ(Defines::of(&word), tokens, texts),
            ".include" => self.include(tokens, texts),
            ".incbin" => self.incbin(tokens, texts),
            ".macro" => self.macro_definition(tokens, tokens.get(1).copied(), tokens.get(2..).unwrap_or(&[]), texts),
            ".rept" => self.repetition(tokens, texts),
            ".endm" => self.unbalanced(tokens[0].span, ".endm", ".macro"),
            ".endr" => self.unbalanced(tokens[0].span, ".endr", ".rept"),
            ".assert" => self.assert(tokens, texts),
            ".error" => self.said(tokens, texts, codes::SAID),
            ".warn" => self.said(tokens, texts, codes::WARNED),
            ".section" => self.section(tokens, texts),
            ".mode" => self.mode(tokens, texts),
            ".entry" => self.one(tokens, texts).map(|address| self.push(ItemKind::Entry(address), self.whole(tokens))),
            ".export" => self.export(tokens, texts),
            _ => self.data_directive(&word, tokens, texts).or_else(|| self.other(&word, tokens, texts)),
        };
    }

    /// Returns the directive that a word stands for on this machine; empty if the machine ignores the word. Every
    /// machine can select a memory.
    fn meant_directive(&self, word: &str, tokens: &[Token], texts: &Texts) -> String {
        let names_memory =
            || tokens.get(1).is_some_and(|name| self.isa.memory_named(self.text(texts, *name)).is_some());
        match self.words.directive(word) {
            Some("") if word == ".section" && names_memory() => word.to_owned(),
            means => means.unwrap_or(word).to_owned(),
        }
    }

    /// `* = 0x100`, which is `.org 0x100`.
    pub(super) fn origin(&mut self, value: &[Token], span: Span, texts: &Texts) -> Option<()> {
        let address = self.whole_expression(value, span, texts)?;
        self.push(ItemKind::Origin(address), self.line);
        Some(())
    }

    /// `.p2align 4`: aligns to this power of two.
    fn power_align(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let power = self.one(tokens, texts)?;
        let (expressions, span) = (&mut self.program.expressions, tokens[0].span);
        let one = expressions.number(1, span);
        let to = expressions.add(NodeKind::Binary(Binary::ShiftLeft, one, power), span);
        self.push(ItemKind::Align { to, fill: None }, self.whole(tokens));
        Some(())
    }

    /// Skips the rest of the macro, or of the file up to the next `.org`. `.end start` also sets the entry.
    fn end_of_file(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        if tokens.len() > 1 {
            let start = self.one(tokens, texts)?;
            self.push(ItemKind::Entry(start), self.whole(tokens));
        }
        let frame = self.frames.last_mut()?;
        match frame.kind {
            FrameKind::File => frame.ended = Ended::Yes,
            FrameKind::Body(_) => frame.at = frame.end,
        }
        Some(())
    }

    /// `.prog` and `.data`: a directive named like a memory selects it.
    fn other(&mut self, word: &str, tokens: &[Token], texts: &Texts) -> Option<()> {
        if let Some(place) = self.place_named(&word[1..]) {
            self.go_to(place, tokens[0].span);
            return Some(());
        }
        if self.is_data_directive(word) {
            return None;
        }
        let known = DIRECTIVES.iter().map(|one| one.name);
        let span = tokens[0].span;
        let help = match called_here(word).or_else(|| nearest(word, known)) {
            Some("") => "remove it: code and data need no sections here".to_owned(),
            Some(meant) => {
                self.report(renamed(word, meant, span));
                if meant == ".rept" {
                    self.repetition(tokens, texts);
                }
                return None;
            }
            None => format!("a local label needs a colon: `{word}:`"),
        };
        self.fail(codes::UNKNOWN_DIRECTIVE, span, format!("there is no directive `{word}`"), help)
    }

    /// Reports a malformed directive, and how to write it.
    pub(super) fn bad_directive<T>(&mut self, tokens: &[Token], texts: &Texts, message: &str) -> Option<T> {
        let word = self.text(texts, tokens[0]).to_ascii_lowercase();
        let meant = self.meant_directive(&word, tokens, texts);
        // `.cell` and `.le24` are written like `.byte`.
        let example = Directive::named(&meant).map_or(".byte 1, 2", |one| one.example);
        let operands = example.split_once(' ').map_or("", |(_, operands)| operands);
        let help = format!("as in `{}`", format!("{word} {operands}").trim_end());
        self.fail(codes::BAD_DIRECTIVE, self.whole(tokens), message, help)
    }

    fn one(&mut self, tokens: &[Token], texts: &Texts) -> Option<ExprId> {
        if tokens.len() < 2 {
            return self.bad_directive(tokens, texts, "expected a value");
        }
        self.whole_expression(&tokens[1..], tokens[0].span, texts)
    }

    /// Reads a count, and perhaps a fill value.
    fn counted(
        &mut self,
        tokens: &[Token],
        texts: &Texts,
        item: impl Fn(ExprId, Option<ExprId>) -> ItemKind,
    ) -> Option<()> {
        let parts = split(&tokens[1..]);
        let span = tokens[0].span;
        let (count, fill) = match parts.as_slice() {
            [count] => (self.whole_expression(count, span, texts)?, None),
            [count, fill] => {
                let count = self.whole_expression(count, span, texts)?;
                (count, Some(self.whole_expression(fill, span, texts)?))
            }
            _ => return self.bad_directive(tokens, texts, "expected a count, and perhaps a value"),
        };
        self.push(item(count, fill), self.whole(tokens));
        Some(())
    }

    fn machine(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let [_, name] = tokens else { return self.bad_directive(tokens, texts, "expected the name of a machine") };
        let text = self.text(texts, *name).trim_matches('"');
        if text == self.isa.name {
            return Some(());
        }
        let message = format!("this program is for `{text}`, but it is being assembled for `{}`", self.isa.name);
        let help = format!("choose the machine with `-m {text}`");
        // Reporting the following lines as well would only repeat this.
        self.gave_up = true;
        self.program.is_incomplete = true;
        self.fail(codes::OTHER_MACHINE, name.span, message, help)
    }

    /// `.equ name, 5`, `.equ name = 5` or `.equ name 5`; what is between name and value may make it a `.set`.
    fn equ(&mut self, defines: Defines, tokens: &[Token], texts: &Texts) -> Option<()> {
        let [_, name, rest @ ..] = tokens else {
            return self.bad_directive(tokens, texts, "expected a name and a value");
        };
        let mark =
            self.words.defines(&tokens[1..], |token| texts.of(token)).map(|(marks, means)| (marks, Defines::of(means)));
        let (marks, defines) = match rest.first() {
            Some(comma) if comma.is_mark(',') => (1, defines),
            _ => mark.unwrap_or((0, defines)),
        };
        if name.kind != Kind::Word || rest.len() <= marks {
            return self.bad_directive(tokens, texts, "expected a name and a value");
        }
        self.definition(*name, defines, &rest[marks..], texts)
    }

    /// Returns the bytes of a token in quotes.
    pub(super) fn quoted(&mut self, token: Token, texts: &Texts) -> Option<Vec<u8>> {
        let text = self.text(texts, token);
        match text_bytes(text) {
            Ok(bytes) => Some(bytes),
            Err(at) => {
                let start = token.span.start + at as u32;
                let span = Span { start, end: start + 2, ..token.span };
                let help = "the escapes are \\n \\r \\t \\0 \\e \\a \\b \\\\ \\' \\\" and \\x41";
                self.fail(codes::BAD_TOKEN, span, "unknown escape", help)
            }
        }
    }

    fn file_name(&mut self, tokens: &[Token], texts: &Texts) -> Option<String> {
        match tokens.get(1) {
            Some(name) if name.kind == Kind::Text => {
                let bytes = self.quoted(*name, texts)?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => self.bad_directive(tokens, texts, "expected a file name in quotes"),
        }
    }

    /// Returns the name of the file being read.
    fn current_file(&self) -> String {
        let file = self.frames.iter().rev().find(|frame| matches!(frame.kind, FrameKind::File));
        file.map_or(String::new(), |frame| self.texts.sources[frame.file.0 as usize].name.clone())
    }

    fn found(&mut self, tokens: &[Token], texts: &Texts) -> Option<lathe_base::files::Found> {
        let name = self.file_name(tokens, texts)?;
        match self.files.open(&self.current_file(), &name) {
            Ok(found) => Some(found),
            Err(problem) => {
                let message = format!("cannot read `{name}`: {}", problem.0);
                self.fail(
                    codes::FILE,
                    tokens[1].span,
                    message,
                    "file names are relative to the file that contains this line",
                )
            }
        }
    }

    fn include(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let found = self.found(tokens, texts);
        self.program.is_incomplete |= found.is_none();
        let found = found?;
        let open: Vec<String> = self
            .frames
            .iter()
            .filter(|frame| matches!(frame.kind, FrameKind::File))
            .map(|frame| self.texts.sources[frame.file.0 as usize].name.clone())
            .collect();
        if let Some(at) = open.iter().position(|name| *name == found.name) {
            let chain = open[at..].iter().map(String::as_str).chain([found.name.as_str()]).collect::<Vec<_>>();
            let message = format!("`{}` includes itself: {}", found.name, chain.join(" → "));
            return self.fail(codes::INCLUDE_CYCLE, tokens[1].span, message, "remove one of these includes");
        }
        if open.len() >= limits::INCLUDE_DEPTH {
            let message = format!("includes are nested more than {} deep", limits::INCLUDE_DEPTH);
            return self.fail(codes::TOO_DEEP, tokens[1].span, message, "include from one file");
        }
        let Ok(text) = String::from_utf8(found.bytes) else {
            let message = format!("`{}` is not a text file", found.name);
            return self.fail(codes::FILE, tokens[1].span, message, "`.incbin` includes the bytes of any file");
        };
        self.included = Some((Source::new(found.name, text), tokens[1].span));
        Some(())
    }

    fn incbin(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let found = self.found(tokens, texts)?;
        let parts = split(&tokens[1..]);
        if parts.len() > 3 {
            return self.bad_directive(tokens, texts, "expected a file, and perhaps an offset and a length");
        }
        let mut number = |at: usize, otherwise: usize| match parts.get(at) {
            Some(part) => {
                let value = self.known(part, tokens[0].span, texts)?;
                usize::try_from(value).ok().or_else(|| {
                    let message = format!("{value} is not a position in a file");
                    self.fail(codes::BAD_DIRECTIVE, self.whole(tokens), message, "offset and length are 0 or more")
                })
            }
            None => Some(otherwise),
        };
        let size = found.bytes.len();
        let offset = number(1, 0)?;
        let length = number(2, size.saturating_sub(offset))?;
        let Some(bytes) = offset.checked_add(length).and_then(|end| found.bytes.get(offset..end)) else {
            let message = format!("`{}` has only {size} bytes", found.name);
            return self.fail(codes::FILE, self.whole(tokens), message, "give an offset and a length inside it");
        };
        self.push_bytes(bytes, self.whole(tokens));
        Some(())
    }

    fn assert(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let parts = split(&tokens[1..]);
        let (condition, message) = match parts.as_slice() {
            [condition] => (condition, String::new()),
            [condition, [text]] if text.kind == Kind::Text => {
                let bytes = self.quoted(*text, texts)?;
                (condition, String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => return self.bad_directive(tokens, texts, "expected a condition, and perhaps a text"),
        };
        let condition = self.whole_expression(condition, tokens[0].span, texts)?;
        self.program.texts.push(message);
        let message = (self.program.texts.len() - 1) as u32;
        self.push(ItemKind::Assert { condition, message }, self.whole(tokens));
        Some(())
    }

    fn said(&mut self, tokens: &[Token], texts: &Texts, code: lathe_base::Code) -> Option<()> {
        let [_, text] = tokens else { return self.bad_directive(tokens, texts, "expected a text in quotes") };
        if text.kind != Kind::Text {
            return self.bad_directive(tokens, texts, "expected a text in quotes");
        }
        let bytes = self.quoted(*text, texts)?;
        let message = String::from_utf8_lossy(&bytes).into_owned();
        self.report(
            Diagnostic::new(code, self.whole(tokens), message)
                .help(format!("`{}` reports this", self.text(texts, tokens[0]))),
        );
        Some(())
    }

    /// `.mode m = 0, x = 1`
    fn mode(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let parts = split(&tokens[1..]);
        let is_one = |part: &&[Token]| matches!(part, [_, equals, ..] if equals.is_mark('='));
        if parts.is_empty() || !parts.iter().all(is_one) {
            return self.bad_directive(tokens, texts, "expected the name of a mode, `=` and its value");
        }
        for part in parts {
            let [name, equals, value @ ..] = part else { continue };
            let text = self.text(texts, *name);
            let modes = self.isa.modes.iter().map(|(id, shift)| (self.isa.register(*id), *shift));
            let Some((mode, shift)) = modes.clone().find(|(mode, _)| mode.name.eq_ignore_ascii_case(text)) else {
                let message = format!("{} has no mode `{text}`", self.isa.name);
                let names: Vec<&str> = modes.map(|(mode, _)| mode.name.as_str()).collect();
                let help = match names.as_slice() {
                    [] => "remove the line: its encodings depend on no modes".to_owned(),
                    _ => format!("it has {}", names.join(" and ")),
                };
                return self.fail(codes::BAD_DIRECTIVE, name.span, message, help);
            };
            let number = self.known(value, equals.span, texts)?;
            let Some(bits) = u64::try_from(number).ok().filter(|bits| mode.width.holds(*bits)) else {
                let message = format!("`{text}` is never {number}");
                let help = format!("it is 0 to {}", mode.width.mask());
                return self.fail(codes::BAD_DIRECTIVE, self.whole(value), message, help);
            };
            self.modes = self.modes & !(u128::from(mode.width.mask()) << shift) | u128::from(bits) << shift;
        }
        Some(())
    }

    /// `.section data`, `.section "data"` or `.section "title", data[0x150]`: continues in a memory or section, or at
    /// an address of it.
    fn section(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        let expected = "expected the name of a memory";
        let (name, address) = match &tokens[1..] {
            [name] => (name, &[][..]),
            [title, comma, name, address @ ..] if title.kind == Kind::Text && comma.is_mark(',') => (name, address),
            _ => return self.bad_directive(tokens, texts, expected),
        };
        let text = self.text(texts, *name).trim_matches('"').trim_start_matches('.');
        let Some(place) = self.place_named(text) else {
            let sections = self.isa.assembly.sections.iter().map(|section| section.name.as_str());
            let names: Vec<&str> =
                self.isa.memories.iter().map(|memory| memory.name.as_str()).chain(sections).collect();
            let message = format!("{} has no memory `{text}`", self.isa.name);
            let help = match names.as_slice() {
                [only] => format!("remove the line: its only memory is `{only}`"),
                _ => format!("it has {}", names.join(" and ")),
            };
            return self.fail(codes::BAD_DIRECTIVE, name.span, message, help);
        };
        self.go_to(place, self.whole(tokens));
        match address {
            [] => Some(()),
            [open, address @ .., close] if open.is_mark('[') && close.is_mark(']') => {
                let address = self.whole_expression(address, open.span, texts)?;
                self.push(ItemKind::Origin(address), self.whole(tokens));
                Some(())
            }
            _ => self.bad_directive(tokens, texts, expected),
        }
    }

    /// Returns the position of the memory or section of this name; sections are counted after the memories.
    fn place_named(&self, name: &str) -> Option<usize> {
        let section = || self.isa.assembly.sections.iter().position(|one| one.name.eq_ignore_ascii_case(name));
        let memory = self.isa.memory_named(name).map(|memory| memory.index());
        memory.or_else(|| Some(self.isa.memories.len() + section()?))
    }

    fn go_to(&mut self, place: usize, span: Span) {
        self.memory = memory_of(self.isa, place);
        self.push(ItemKind::Place(place), span);
    }

    fn export(&mut self, tokens: &[Token], texts: &Texts) -> Option<()> {
        for part in split(&tokens[1..]) {
            let [name] = part else { return self.bad_directive(tokens, texts, "expected names") };
            let text = self.text(texts, *name);
            let id = self.program.symbols.intern(text, name.span);
            self.program.symbols.entry_mut(id).exported = true;
            let used = self.program.expressions.add(NodeKind::Symbol(id), name.span);
            self.program.texts.push(String::new());
            let message = (self.program.texts.len() - 1) as u32;
            // An exported name must be defined: evaluating it reports it if not.
            let one = self.program.expressions.number(1, name.span);
            let holds = NodeKind::Binary(Binary::Either, used, one);
            let condition = self.program.expressions.add(holds, name.span);
            self.push(ItemKind::Assert { condition, message }, name.span);
        }
        Some(())
    }

    pub(super) fn push_bytes(&mut self, bytes: &[u8], span: Span) {
        if (self.program.bytes.len() + bytes.len()) as u64 > limits::IMAGE_CELLS {
            let message = format!("the program has more than {} cells of text and files", limits::IMAGE_CELLS);
            self.fail::<()>(
                codes::TOO_LARGE,
                span,
                message,
                "take a part of the file: `.incbin \"file\", offset, length`",
            );
            return;
        }
        let first = self.program.bytes.len() as u32;
        self.program.bytes.extend_from_slice(bytes);
        self.push(ItemKind::Bytes { first, count: bytes.len() as u32 }, span);
    }
}
