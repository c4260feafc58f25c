//! Directives, except those that make blocks and those that lay data down.

use lathe_base::{Diagnostic, Source, Span, limits, nearest};
use lathe_isa::language::ast::Binary;

use super::blocks::split;
use super::{Ended, FrameKind, Reader};
use crate::codes;
use crate::expression::{ExprId, NodeKind};
use crate::program::ItemKind;
use crate::tokens::{Kind, Token, text_bytes};

/// Every directive, with how it is written.
const DIRECTIVES: [(&str, &str); 34] = [
    (".machine", ".machine quad8"),
    (".org", ".org 0x100"),
    (".align", ".align 16"),
    (".p2align", ".p2align 4"),
    (".fill", ".fill 8, 0xFF"),
    (".space", ".space 8"),
    (".byte", ".byte 1, 2, \"text\""),
    (".word", ".word 0x1234, label"),
    (".le16", ".le16 0x1234"),
    (".be16", ".be16 0x1234"),
    (".le32", ".le32 0x12345678"),
    (".be32", ".be32 0x12345678"),
    (".le64", ".le64 1"),
    (".be64", ".be64 1"),
    (".ascii", ".ascii \"text\""),
    (".asciiz", ".asciiz \"text\""),
    (".equ", ".equ name, value"),
    (".include", ".include \"file.asm\""),
    (".incbin", ".incbin \"file.bin\", offset, length"),
    (".if", ".if DEBUG"),
    (".elif", ".elif OTHER"),
    (".else", ".else"),
    (".endif", ".endif"),
    (".macro", ".macro name first, second = 5"),
    (".endm", ".endm"),
    (".rept", ".rept 8, n"),
    (".endr", ".endr"),
    (".assert", ".assert size < 256, \"too long\""),
    (".error", ".error \"text\""),
    (".warn", ".warn \"text\""),
    (".section", ".section data"),
    (".entry", ".entry start"),
    (".export", ".export name"),
    (".end", ".end"),
];

/// What other assemblers call some of them; nothing for what is not needed here.
const ELSEWHERE: [(&str, &str); 35] = [
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
    (".set", ".equ"),
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

/// How one that another assembler has is called here.
pub(super) fn called_here(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(name, _)| *name == word).map(|(_, meant)| *meant)
}

/// The directive that a word without its dot, or from another assembler, stands for.
pub(super) fn directive_for(word: &str) -> Option<&'static str> {
    let dotted = format!(".{}", word.trim_start_matches('.').to_ascii_lowercase());
    let known = DIRECTIVES.iter().map(|(name, _)| *name).find(|name| *name == dotted);
    let elsewhere = ELSEWHERE.iter().find(|(name, meant)| *name == dotted && !meant.is_empty());
    known.or(elsewhere.map(|(_, meant)| *meant))
}

/// Reports a directive that has another name here.
pub(super) fn renamed(word: &str, meant: &str, span: Span) -> Diagnostic {
    let example = DIRECTIVES.iter().find(|(name, _)| *name == meant).map_or("", |(_, example)| example);
    let diagnostic = Diagnostic::new(codes::UNKNOWN_DIRECTIVE, span, format!("there is no directive `{word}`"));
    let example = if example == meant { String::new() } else { format!(", as in `{example}`") };
    diagnostic.help(format!("did you mean `{meant}`{example}?")).fix(span, meant)
}

impl Reader<'_> {
    pub(super) fn directive(&mut self, tokens: &[Token], sources: &[Source]) {
        let written = self.text(sources, tokens[0]).to_ascii_lowercase();
        let Some(word) = self.meant_directive(&written, tokens, sources) else { return };
        let _ = match word.as_str() {
            ".machine" => self.machine(tokens, sources),
            ".org" => self.one(tokens, sources).map(|address| self.push(ItemKind::Origin(address), self.whole(tokens))),
            ".end" => self.end_of_file(),
            ".align" => self.counted(tokens, sources, |to, fill| ItemKind::Align { to, fill }),
            ".p2align" => self.power_align(tokens, sources),
            ".fill" | ".space" => self.counted(tokens, sources, |count, fill| ItemKind::Space { count, fill }),
            ".equ" => self.equ(tokens, sources),
            ".include" => self.include(tokens, sources),
            ".incbin" => self.incbin(tokens, sources),
            ".macro" => self.macro_definition(tokens, sources),
            ".rept" => self.repetition(tokens, sources),
            ".endm" => self.unbalanced(tokens[0].span, ".endm", ".macro"),
            ".endr" => self.unbalanced(tokens[0].span, ".endr", ".rept"),
            ".assert" => self.assert(tokens, sources),
            ".error" => self.said(tokens, sources, codes::SAID),
            ".warn" => self.said(tokens, sources, codes::WARNED),
            ".section" => self.section(tokens, sources),
            ".entry" => {
                self.one(tokens, sources).map(|address| self.push(ItemKind::Entry(address), self.whole(tokens)))
            }
            ".export" => self.export(tokens, sources),
            _ => self.data_directive(&word, tokens, sources).or_else(|| self.other(&word, tokens, sources)),
        };
    }

    /// Whether a word without a dot is a directive for this machine.
    pub(super) fn is_directive(&self, word: &str) -> bool {
        self.isa.assembly.directives.iter().any(|(name, _)| name.eq_ignore_ascii_case(word))
    }

    /// The directive that a word stands for on this machine; none if it says nothing. A memory can be
    /// chosen on every machine.
    pub(super) fn meant_directive(&self, word: &str, tokens: &[Token], sources: &[Source]) -> Option<String> {
        let names_memory =
            || tokens.get(1).is_some_and(|name| self.isa.memory_named(self.text(sources, *name)).is_some());
        match self.isa.assembly.directives.iter().find(|(name, _)| name == word) {
            Some((_, None)) if word == ".section" && names_memory() => Some(word.to_owned()),
            Some((_, means)) => means.clone(),
            None => Some(word.to_owned()),
        }
    }

    /// `* = 0x100`, which is `.org 0x100`.
    pub(super) fn origin(&mut self, value: &[Token], span: Span, sources: &[Source]) -> Option<()> {
        let address = self.whole_expression(value, span, sources)?;
        self.push(ItemKind::Origin(address), self.line);
        Some(())
    }

    /// `.p2align 4`: up to a multiple of two to this power.
    fn power_align(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let power = self.one(tokens, sources)?;
        let (expressions, span) = (&mut self.program.expressions, tokens[0].span);
        let one = expressions.number(1, span);
        let to = expressions.add(NodeKind::Binary(Binary::ShiftLeft, one, power), span);
        self.push(ItemKind::Align { to, fill: None }, self.whole(tokens));
        Some(())
    }

    /// Leaves the rest of the macro unread, or that of the file up to the next `.org`.
    fn end_of_file(&mut self) -> Option<()> {
        let frame = self.frames.last_mut()?;
        match frame.kind {
            FrameKind::File => frame.ended = Ended::Yes,
            FrameKind::Body(_) => frame.at = frame.end,
        }
        Some(())
    }

    /// `.prog` and `.data`: a directive named like a memory selects it.
    fn other(&mut self, word: &str, tokens: &[Token], sources: &[Source]) -> Option<()> {
        if let Some(memory) = self.isa.memory_named(&word[1..]) {
            self.memory = memory;
            self.push(ItemKind::Memory(memory), tokens[0].span);
            return Some(());
        }
        if self.is_data_directive(word) {
            return None;
        }
        let known = DIRECTIVES.iter().map(|(name, _)| *name);
        let span = tokens[0].span;
        let help = match called_here(word).or_else(|| nearest(word, known)) {
            Some("") => "remove it: code and data need no sections here".to_owned(),
            Some(meant) => {
                self.report(renamed(word, meant, span));
                if meant == ".rept" {
                    self.repetition(tokens, sources);
                }
                return None;
            }
            None => format!("a local label needs a colon: `{word}:`"),
        };
        self.fail(codes::UNKNOWN_DIRECTIVE, span, format!("there is no directive `{word}`"), help)
    }

    /// Reports a directive that is not written right, with how it is.
    pub(super) fn bad_directive<T>(&mut self, tokens: &[Token], sources: &[Source], message: &str) -> Option<T> {
        let word = self.text(sources, tokens[0]).to_ascii_lowercase();
        let meant = self.meant_directive(&word, tokens, sources).unwrap_or_else(|| word.clone());
        let example = DIRECTIVES.iter().find(|(name, _)| *name == meant);
        // `.cell` and `.le24` are written like `.byte`.
        let example = example.map_or(".byte 1, 2", |(_, example)| example);
        let operands = example.split_once(' ').map_or("", |(_, operands)| operands);
        let help = format!("as in `{}`", format!("{word} {operands}").trim_end());
        self.fail(codes::BAD_DIRECTIVE, self.whole(tokens), message, help)
    }

    fn one(&mut self, tokens: &[Token], sources: &[Source]) -> Option<ExprId> {
        if tokens.len() < 2 {
            return self.bad_directive(tokens, sources, "expected a value");
        }
        self.whole_expression(&tokens[1..], tokens[0].span, sources)
    }

    /// A count and perhaps a value to fill with.
    fn counted(
        &mut self,
        tokens: &[Token],
        sources: &[Source],
        item: impl Fn(ExprId, Option<ExprId>) -> ItemKind,
    ) -> Option<()> {
        let parts = split(&tokens[1..]);
        let span = tokens[0].span;
        let (count, fill) = match parts.as_slice() {
            [count] => (self.whole_expression(count, span, sources)?, None),
            [count, fill] => {
                let count = self.whole_expression(count, span, sources)?;
                (count, Some(self.whole_expression(fill, span, sources)?))
            }
            _ => return self.bad_directive(tokens, sources, "expected a count, and perhaps a value"),
        };
        self.push(item(count, fill), self.whole(tokens));
        Some(())
    }

    fn machine(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let [_, name] = tokens else { return self.bad_directive(tokens, sources, "expected the name of a machine") };
        let text = self.text(sources, *name).trim_matches('"');
        if text == self.isa.name {
            return Some(());
        }
        let message = format!("this program is for `{text}`, but it is being assembled for `{}`", self.isa.name);
        let help = format!("choose the machine with `-m {text}`");
        // The lines after it would not fit for this one reason.
        self.gave_up = true;
        self.program.is_incomplete = true;
        self.fail(codes::OTHER_MACHINE, name.span, message, help)
    }

    fn equ(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        match tokens {
            [_, name, mark, value @ ..] if name.kind == Kind::Word && (mark.is_mark(',') || mark.is_mark('=')) => {
                self.definition(*name, value, sources)
            }
            _ => self.bad_directive(tokens, sources, "expected a name and a value"),
        }
    }

    /// The text of a token in quotes, as bytes.
    pub(super) fn quoted(&mut self, token: Token, sources: &[Source]) -> Option<Vec<u8>> {
        let text = self.text(sources, token);
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

    fn file_name(&mut self, tokens: &[Token], sources: &[Source]) -> Option<String> {
        match tokens.get(1) {
            Some(name) if name.kind == Kind::Text => {
                let bytes = self.quoted(*name, sources)?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => self.bad_directive(tokens, sources, "expected a file name in quotes"),
        }
    }

    /// The name of the file that is being read.
    fn current_file(&self) -> String {
        let file = self.frames.iter().rev().find(|frame| matches!(frame.kind, FrameKind::File));
        file.map_or(String::new(), |frame| self.sources[frame.file.0 as usize].name.clone())
    }

    fn found(&mut self, tokens: &[Token], sources: &[Source]) -> Option<lathe_base::files::Found> {
        let name = self.file_name(tokens, sources)?;
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

    fn include(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let found = self.found(tokens, sources);
        self.program.is_incomplete |= found.is_none();
        let found = found?;
        let open: Vec<String> = self
            .frames
            .iter()
            .filter(|frame| matches!(frame.kind, FrameKind::File))
            .map(|frame| self.sources[frame.file.0 as usize].name.clone())
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

    fn incbin(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let found = self.found(tokens, sources)?;
        let parts = split(&tokens[1..]);
        if parts.len() > 3 {
            return self.bad_directive(tokens, sources, "expected a file, and perhaps an offset and a length");
        }
        let mut number = |at: usize, otherwise: usize| match parts.get(at) {
            Some(part) => {
                let value = self.known(part, tokens[0].span, sources)?;
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

    fn assert(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let parts = split(&tokens[1..]);
        let (condition, message) = match parts.as_slice() {
            [condition] => (condition, String::new()),
            [condition, [text]] if text.kind == Kind::Text => {
                let bytes = self.quoted(*text, sources)?;
                (condition, String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => return self.bad_directive(tokens, sources, "expected a condition, and perhaps a text"),
        };
        let condition = self.whole_expression(condition, tokens[0].span, sources)?;
        self.program.texts.push(message);
        let message = (self.program.texts.len() - 1) as u32;
        self.push(ItemKind::Assert { condition, message }, self.whole(tokens));
        Some(())
    }

    fn said(&mut self, tokens: &[Token], sources: &[Source], code: lathe_base::Code) -> Option<()> {
        let [_, text] = tokens else { return self.bad_directive(tokens, sources, "expected a text in quotes") };
        if text.kind != Kind::Text {
            return self.bad_directive(tokens, sources, "expected a text in quotes");
        }
        let bytes = self.quoted(*text, sources)?;
        let message = String::from_utf8_lossy(&bytes).into_owned();
        self.report(
            Diagnostic::new(code, self.whole(tokens), message)
                .help(format!("`{}` reports this", self.text(sources, tokens[0]))),
        );
        Some(())
    }

    fn section(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        let [_, name] = tokens else { return self.bad_directive(tokens, sources, "expected the name of a memory") };
        let text = self.text(sources, *name).trim_start_matches('.');
        let Some(memory) = self.isa.memory_named(text) else {
            let names: Vec<&str> = self.isa.memories.iter().map(|memory| memory.name.as_str()).collect();
            let message = format!("{} has no memory `{text}`", self.isa.name);
            let help = match names.as_slice() {
                [only] => format!("remove the line: its only memory is `{only}`"),
                _ => format!("it has {}", names.join(" and ")),
            };
            return self.fail(codes::BAD_DIRECTIVE, name.span, message, help);
        };
        self.memory = memory;
        self.push(ItemKind::Memory(memory), self.whole(tokens));
        Some(())
    }

    fn export(&mut self, tokens: &[Token], sources: &[Source]) -> Option<()> {
        for part in split(&tokens[1..]) {
            let [name] = part else { return self.bad_directive(tokens, sources, "expected names") };
            let text = self.text(sources, *name);
            let id = self.program.symbols.intern(text, name.span);
            self.program.symbols.entry_mut(id).exported = true;
            let used = self.program.expressions.add(NodeKind::Symbol(id), name.span);
            self.program.texts.push(String::new());
            let message = (self.program.texts.len() - 1) as u32;
            // A name that is exported must be defined: evaluating it says so if it is not.
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
