//! Declarations: everything that is not a row of a table.

use lathe_base::{Diagnostic, Span, nearest};

use super::rows::joined;
use super::{Failed, Parsed, Parser};
use crate::codes;
use crate::elaborate::spread;
use crate::language::ast::*;
use crate::language::lexer::Token;

/// The words that begin an item, with an example of each.
const ITEMS: [(&str, &str); 25] = [
    ("machine", "machine quad8 \"Four registers\""),
    ("memory", "memory ram : u16 -> u8"),
    ("pc", "pc pc : u16 in ram"),
    ("register", "register a, b : u8"),
    ("constant", "constant r0 : u16 = 0"),
    ("mode", "mode wide : u1"),
    ("view", "view r1l = r1[7:0]"),
    ("field", "field D, S : register { a, b }"),
    ("device", "device console : stream"),
    ("map", "map ram { 0xFF00 | console.read() | console.write(value) }"),
    ("data", "data ram 0x50 { 0xF0, 0x90, 0x90 }"),
    ("trap", "trap divide = 2"),
    ("width", "width X = 32"),
    ("fn", "fn push(v: u8) { sp = sp - 1; ram[sp] = v }"),
    ("family", "family OP : u4 (x: u8, y: u8) -> u8 { add = x + y }"),
    ("operand", "operand S, D : u6 { R | 000 RRR | R }"),
    ("assembly", "assembly { %lo(V) = V[7:0] }"),
    ("instructions", "instructions { nop | 0000 0000 | }"),
    ("pseudo", "pseudo { mov D, S => sub D, D; add D, S }"),
    ("examples", "examples { inc a : a = 1 -> a = 2 }"),
    ("prefix", "prefix ix 0xDD with hl = ix { cycles + 4 }"),
    ("before", "before each { ticks = ticks + 1 }"),
    ("after", "after each when busy { busy = 0 }"),
    ("include", "include \"shared.isa\""),
    ("remove", "remove { inc D }"),
];

/// Words that begin a declaration in other languages, with the equivalent here.
const ELSEWHERE: [(&[&str], &str); 6] = [
    (&["flag", "flags", "bit", "bits"], "a flag is a register of one bit, as in `register c, z : u1`"),
    (&["function", "func", "def", "macro"], "a function is written `fn double(x: u8) -> u8 { x + x }`"),
    (&["import", "use", "require"], "another file is read with `include \"shared.isa\"`"),
    (&["port", "io", "input", "output", "console"], "a device is written `device console : stream`"),
    (&["interrupt", "irq"], "what happens between two instructions is written `on step when … { … }`"),
    (&["opcode", "opcodes", "instr", "rows"], "rows belong in a block, as in `instructions { nop | 0000 0000 | }`"),
];

/// Whether a word begins a declaration.
pub(super) fn begins_item(word: &str) -> bool {
    word == "on" || ITEMS.iter().any(|(known, _)| *known == word)
}

/// Returns where a run of lines that look like rows ends, including the brace after it, if one begins at `start`.
fn end_of_rows(text: &str, start: usize) -> Option<usize> {
    let mut end = None;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let written = line.trim();
        let is_row = line.matches('|').count() >= 2;
        if end.is_none() && !is_row {
            return None;
        }
        if !(is_row || written.is_empty() || written.starts_with('#') || written.starts_with('}')) {
            break;
        }
        if is_row || written.starts_with('}') {
            end = Some(at + line.trim_end().len());
        }
        at += line.len();
        if written.starts_with('}') {
            break;
        }
    }
    end
}

impl Parser<'_, '_> {
    pub(super) fn definition(&mut self) -> Definition {
        let mut definition = Definition::default();
        loop {
            self.skip_newlines();
            if self.token == Token::End {
                definition.broken = std::mem::take(&mut self.broken);
                definition.rows_lost = self.rows_lost;
                return definition;
            }
            let documentation = self.take_documentation();
            let before = self.cursor.at();
            self.began = self.span.start as usize;
            let start = self.began;
            let items = definition.items.len();
            if let Err(Failed) = self.item(&mut definition, &documentation) {
                self.recover(start);
                self.note_broken(start);
                self.take("}");
                if self.cursor.at() == before {
                    self.advance();
                }
            } else if !definition.items[items..].iter().all(Item::is_rows) {
                definition.declared.push(self.cursor.span(start, self.last_end));
            }
            // Documentation inside an item, or after it on its line, is not about the next item.
            let after = self.take_documentation();
            for item in &mut definition.items[items..] {
                let after = if item.is_line() { after.as_str() } else { "" };
                if let Some(own) = item.documentation() {
                    *own = joined(&documentation, after);
                }
            }
        }
    }

    fn item(&mut self, definition: &mut Definition, documentation: &str) -> Parsed<()> {
        if self.is(";") {
            return self.foreign_comment(";");
        }
        let word = self.name("a declaration", "lines begin with a word such as `register` or `instructions`")?;
        if begins_item(&word.text) {
            return self.item_that_begins(&word.text.clone(), word, definition, documentation);
        }
        let meant = self.meant_item(&word)?;
        let reported = self.diagnostics.len();
        let read = self.item_that_begins(meant, word, definition, documentation);
        if read.is_err() {
            // It was a guess, and one message per line is enough.
            self.diagnostics.truncate(reported);
        }
        read
    }

    fn item_that_begins(
        &mut self,
        known: &str,
        word: Name,
        definition: &mut Definition,
        documentation: &str,
    ) -> Parsed<()> {
        let item = match known {
            "machine" => return self.machine(definition, word, documentation),
            "memory" => Item::Memory(self.memory()?),
            "pc" => Item::Pc(self.pc()?),
            "register" => Item::Registers(self.registers(RegisterKind::Plain)?),
            "constant" => Item::Registers(self.registers(RegisterKind::Constant)?),
            "mode" => Item::Registers(self.registers(RegisterKind::Mode)?),
            "view" => {
                definition.items.extend(self.list(Self::view)?.into_iter().map(Item::View));
                return Ok(());
            }
            "field" => Item::Fields(self.fields()?),
            "device" => Item::Device(self.device()?),
            "map" => Item::Map(self.map()?),
            "trap" => Item::Traps(self.traps()?),
            "width" => Item::Width(self.width_letter()?),
            "fn" => Item::Function(self.function()?),
            "family" => Item::Family(self.family()?),
            "operand" => Item::Operands(self.operands()?),
            "prefix" => Item::Prefix(self.prefix()?),
            "data" => Item::Contents(self.contents()?),
            "on" if self.take_word("step") => Item::OnStep(self.hook(word.span)?),
            "on" if self.take_word("reset") => Item::OnReset(self.unconditional(word.span)?),
            "on" => {
                self.expect_word(
                    "illegal",
                    "there are `on reset { … }`, `on illegal { … }` and `on step when … { … }`",
                )?;
                Item::OnIllegal(self.unconditional(word.span)?)
            }
            "before" => Item::Each(Moment::Before, self.each(word.span)?),
            "after" => Item::Each(Moment::After, self.each(word.span)?),
            "assembly" => Item::Assembly(self.table("habits", Self::assembly_row)?),
            "instructions" => Item::Instructions(self.instructions()?),
            "pseudo" => Item::Pseudos(self.table("pseudo-instructions", Self::pseudo)?),
            "examples" => Item::Examples(self.table("examples", Self::example)?),
            "include" => Item::Include(self.include()?),
            "remove" => Item::Remove(self.remove()?),
            // Every word that begins an item is handled above.
            _ => return Err(Failed),
        };
        definition.items.push(item);
        Ok(())
    }

    /// Reports a word that begins no item, and returns the one that was meant, to continue as if it had been written.
    fn meant_item(&mut self, word: &Name) -> Parsed<&'static str> {
        let shortened = |(known, _): &&(&str, &str)| word.text.len() >= 3 && known.starts_with(word.text.as_str());
        let near = nearest(&word.text, ITEMS.iter().map(|(word, _)| *word));
        let meant = ITEMS.iter().find(shortened).or_else(|| ITEMS.iter().find(|(word, _)| Some(*word) == near));
        let message = format!("no declaration begins with `{}`", word.text);
        let diagnostic = Diagnostic::new(codes::UNKNOWN_ITEM, word.span, message);
        if let Some(end) = end_of_rows(self.cursor.text(), word.span.start as usize) {
            // One early brace puts all rows after it outside; that is reported once.
            self.last_end = end;
            let help = "this looks like a row: rows belong between the braces of `instructions { … }`";
            return self.fail_with(diagnostic.help(help));
        }
        if let Some((_, help)) = ELSEWHERE.iter().find(|(words, _)| words.contains(&word.text.as_str())) {
            return self.fail_with(diagnostic.help(*help));
        }
        let Some((meant, example)) = meant else {
            let all: Vec<_> = ITEMS.iter().map(|(word, _)| *word).collect();
            return self.fail_with(diagnostic.help(format!("a line begins with one of {}, on", all.join(", "))));
        };
        self.report(diagnostic.help(format!("did you mean `{meant}`, as in `{example}`?")).safe_fix(word.span, *meant));
        Ok(meant)
    }

    fn machine(&mut self, definition: &mut Definition, word: Name, documentation: &str) -> Parsed<()> {
        let help = "as in `machine quad8 \"Four registers\"`";
        let name = self.name("the machine's name", help)?;
        let extends = if self.take_word("extends") { Some(self.base()?) } else { None };
        let title = match &self.token {
            Token::Text(Some(text)) => text.clone(),
            _ => return self.unexpected("one line about the machine, in quotes", help),
        };
        self.advance();
        if let Some(first) = &definition.machine {
            let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, word.span, "a second `machine` line")
                .also(first.name.span, "the machine has its name here")
                .help("one file describes one machine");
            self.report(diagnostic);
            return Ok(());
        }
        definition.machine = Some(Machine { name, title, extends, documentation: documentation.to_owned() });
        Ok(())
    }

    /// Reads what follows `extends`: a machine by its name, or the file of its definition.
    fn base(&mut self) -> Parsed<Import> {
        let help = "as in `machine mine extends quad8 \"…\"`, or `extends \"file.isa\"`";
        if let Token::Text(_) = self.token {
            let Name { text: name, span } = self.quoted(help)?;
            return Ok(Import { name, is_machine: false, span });
        }
        let name = self.name("the machine that this one extends", help)?;
        Ok(Import { name: name.text, is_machine: true, span: name.span })
    }

    fn include(&mut self) -> Parsed<Import> {
        let Name { text: name, span } = self.quoted("as in `include \"shared.isa\"`")?;
        Ok(Import { name, is_machine: false, span })
    }

    /// Reads `remove x, y, on step`, or rows between braces.
    fn remove(&mut self) -> Parsed<Vec<Remove>> {
        if self.is("{") {
            return self.rows("rows to remove", |p| Ok(Remove::Row(p.rest_of_line())));
        }
        let help = "as in `remove x, on step`, or `remove { inc D }` for rows";
        self.list(|p| {
            let name = p.name("the name of a declaration", help)?;
            let second = match name.text.as_str() {
                "on" if ["reset", "illegal", "step"].iter().any(|word| p.is_word(word)) => p.name("a word", help)?,
                "before" | "after" if p.is_word("each") => p.name("a word", help)?,
                _ => return Ok(Remove::Name(name)),
            };
            let text = format!("{} {}", name.text, second.text);
            Ok(Remove::Hook(Name { text, span: name.span.to(second.span) }))
        })
    }

    fn memory(&mut self) -> Parsed<Memory> {
        let help = "as in `memory ram : u16 -> u8`: the width of an address, then that of a cell";
        let name = self.name("the memory's name", help)?;
        self.expect(":", help)?;
        let address = self.ty(help)?;
        self.expect("->", help)?;
        let cell = self.ty(help)?;
        Ok(Memory { name, address, cell, order: self.order(), documentation: String::new() })
    }

    fn pc(&mut self) -> Parsed<Pc> {
        let help = "as in `pc pc : u16 in ram`: name, width, and the memory that holds the code";
        let name = self.name("the program counter's name", help)?;
        self.expect(":", help)?;
        let ty = self.ty(help)?;
        self.expect_word("in", help)?;
        let memory = self.name("a memory", help)?;
        let reset = if self.take("=") { Some(self.expression()?) } else { None };
        Ok(Pc { name, ty, memory, reset, documentation: String::new() })
    }

    fn each(&mut self, span: Span) -> Parsed<Hook> {
        self.expect_word("each", "there are `before each { … }` and `after each { … }`, both with `when` if you like")?;
        self.hook(span)
    }

    fn hook(&mut self, span: Span) -> Parsed<Hook> {
        let when = if self.take_word("when") { Some(self.expression()?) } else { None };
        Ok(Hook { when, ..self.unconditional(span)? })
    }

    fn unconditional(&mut self, span: Span) -> Parsed<Hook> {
        Ok(Hook { span, when: None, body: self.block()?, documentation: String::new() })
    }

    fn traps(&mut self) -> Parsed<Traps> {
        let names = self.list(|p| {
            let name = p.name("the name of a trap", "as in `trap divide = 2`")?;
            p.expect("=", "as in `trap divide = 2`")?;
            Ok((name, p.expression()?))
        })?;
        Ok(Traps { names, documentation: String::new() })
    }

    fn width_letter(&mut self) -> Parsed<WidthLetter> {
        let help = "as in `width X = 32`, for types such as `uX`";
        let name = self.name("a letter", help)?;
        self.expect("=", help)?;
        Ok(WidthLetter { name, bits: self.expression()?, documentation: String::new() })
    }

    fn table<T>(&mut self, what: &str, row: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Table<T>> {
        Ok(Table { rows: self.rows(what, row)?, documentation: String::new() })
    }

    fn assembly_row(&mut self) -> Parsed<AssemblyRow> {
        let documentation = self.take_documentation();
        Ok(AssemblyRow { habit: self.habit()?, documentation })
    }

    fn habit(&mut self) -> Parsed<Habit> {
        let help = "as in `%lo(V) = V[7:0]`, `db = .byte`, `prefix \"x\" = 16`, `comment \"#\"`, `bare labels`; the reference of the language lists all rows";
        if self.take("%") {
            let name = self.name("the function's name", help)?;
            self.expect("(", help)?;
            return self.assembly_function(Name { text: format!("%{}", name.text), ..name }, help);
        }
        if self.take_word("bare") {
            if self.take_word("directives") {
                return Ok(Habit::BareDirectives);
            }
            self.expect_word("labels", help)?;
            let in_first_column = self.take_word("in");
            if in_first_column {
                self.expect_word("column", help)?;
                if self.token != Token::Number(Some(1)) {
                    return self.unexpected("`1`", help);
                }
                self.advance();
            }
            return Ok(Habit::BareLabels { in_first_column });
        }
        if self.take_word("caseless") {
            self.expect_word("labels", help)?;
            return Ok(Habit::CaselessLabels);
        }
        if self.take_word("octal") {
            self.expect_word("numbers", help)?;
            return Ok(Habit::OctalNumbers);
        }
        if self.take_word("comment") {
            return Ok(Habit::Comment(self.quoted(help)?));
        }
        if self.take_word("separator") {
            return Ok(Habit::Separator(self.quoted(help)?));
        }
        if self.take_word("prefix") {
            let text = self.quoted(help)?;
            self.expect("=", help)?;
            return Ok(Habit::Prefix { text, base: self.expression()? });
        }
        if self.take_word("local") {
            return Ok(Habit::Local(self.quoted(help)?));
        }
        if self.take_word("here") {
            return Ok(Habit::Here(self.quoted(help)?));
        }
        if self.take_word("operator") {
            let written = self.quoted(help)?;
            self.expect("=", help)?;
            return Ok(Habit::Operator { written, means: self.quoted(help)? });
        }
        if self.take_word("section") {
            return self.assembly_section();
        }
        let mut names = self.list(|p| p.directive_name(help))?;
        if names.len() == 1 && self.take("(") {
            return self.assembly_function(names.swap_remove(0), help);
        }
        if let (1, Token::Name(_)) = (names.len(), &self.token) {
            let parameter = self.name("its operand", help)?;
            self.expect("=", help)?;
            return Ok(Habit::Unary { name: names.swap_remove(0), parameter, value: self.expression()? });
        }
        self.expect("=", help)?;
        let means = if self.token == Token::Newline { None } else { Some(self.directive_name(help)?) };
        Ok(Habit::Directives { names, means })
    }

    /// Reads what follows the name of a function and its `(`.
    fn assembly_function(&mut self, name: Name, help: &str) -> Parsed<Habit> {
        let parameter = self.name("its argument", help)?;
        self.expect(")", help)?;
        self.expect("=", help)?;
        Ok(Habit::Function { name, parameter, value: self.expression()? })
    }

    /// Reads what follows `section`.
    fn assembly_section(&mut self) -> Parsed<Habit> {
        let help = "as in `section WRAM0 = ram[0xC000]`: a name, and where it begins in which memory";
        let names = self.list(|p| p.name("the name of a section", help))?;
        self.expect("=", help)?;
        let memory = self.name("a memory", help)?;
        self.expect("[", help)?;
        let address = self.expression()?;
        self.expect("]", help)?;
        Ok(Habit::Section { names, memory, address })
    }

    /// Reads a non-empty text in quotes.
    fn quoted(&mut self, help: &str) -> Parsed<Name> {
        match &self.token {
            Token::Text(Some(text)) if !text.is_empty() => {
                let name = Name { text: text.clone(), span: self.span };
                self.advance();
                Ok(name)
            }
            _ => self.unexpected("a text in quotes", help),
        }
    }

    /// Reads `.byte`, `db`, or the mark between a name and its value: `":="`.
    fn directive_name(&mut self, help: &str) -> Parsed<Name> {
        if matches!(self.token, Token::Text(_)) {
            return self.quoted(help);
        }
        let (dot, span) = (if self.take(".") { "." } else { "" }, self.span);
        let name = self.name("the name of a directive", help)?;
        Ok(Name { text: format!("{dot}{}", name.text), span: span.to(name.span) })
    }

    fn contents(&mut self) -> Parsed<Contents> {
        let help = "as in `data ram 0x50 { 0xF0, 0x90, 0x90 }`: a memory, an address, and what its cells hold";
        let memory = self.name("a memory", help)?;
        let address = self.expression()?;
        Ok(Contents { memory, address, values: self.braced(Self::expression)?, documentation: String::new() })
    }

    pub(super) fn order(&mut self) -> Option<Order> {
        if self.take_word("little") {
            return Some(Order::Little);
        }
        self.take_word("big").then_some(Order::Big)
    }

    fn registers(&mut self, kind: RegisterKind) -> Parsed<Registers> {
        let help = match kind {
            RegisterKind::Plain => "names are separated by `,`, as in `register a, b, sp = 0xFF : u8`",
            RegisterKind::Constant => "as in `constant r0 : u16 = 0`",
            RegisterKind::Mode => "as in `mode wide, native = 1 : u1`",
        };
        let mut names = self.list(|p| {
            let range = p.name_range(help)?;
            let reset = if p.take("=") { Some(p.expression()?) } else { None };
            Ok(DeclaredRegisters { range, reset, position: None })
        })?;
        if matches!(self.token, Token::Name(_)) {
            let message = format!("expected `,` or `:`, found {}", self.describe());
            let between = self.cursor.span(self.last_end, self.last_end);
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, self.span, message).help(help);
            return self.fail_with(diagnostic.safe_fix(between, ","));
        }
        let is_range = self.is("-") || self.is("[");
        self.expect(":", if is_range { "a range of names is written `r0..r7`" } else { help })?;
        let ty = self.ty(help)?;
        if self.take("=") {
            let reset = self.expression()?;
            names.iter_mut().for_each(|names| names.reset = names.reset.take().or_else(|| Some(reset.clone())));
        }
        Ok(Registers { names, ty, home: self.home()?, kind, documentation: String::new() })
    }

    /// Reads `at data[0x5D]`, if it is there.
    fn home(&mut self) -> Parsed<Option<Home>> {
        if !self.take_word("at") {
            return Ok(None);
        }
        let help = "as in `register sp : u8 at ram[0x81]`";
        let memory = self.name("the name of a memory", help)?;
        self.expect("[", help)?;
        let address = self.expression()?;
        self.expect("]", help)?;
        Ok(Some(Home { memory, address }))
    }

    pub(super) fn name_range(&mut self, help: &str) -> Parsed<NameRange> {
        let first = self.name("a name", help)?;
        let last = if self.take("..") { Some(self.name("the last name of the range", help)?) } else { None };
        Ok(NameRange { first, last })
    }

    fn view(&mut self) -> Parsed<View> {
        let help = "as in `view r1l = r1[7:0]` or `view bc = b ++ c`";
        let name = self.name("the view's name", help)?;
        self.expect("=", help)?;
        let value = self.expression()?;
        let clearing = self.take_word("clearing");
        Ok(View { name, value, clearing, home: self.home()?, documentation: String::new() })
    }

    fn fields(&mut self) -> Parsed<Fields> {
        let help = "as in `field D, S : register { a, b }` or `field I : u4`";
        let names = self.list(|p| p.name("the field's name", help))?;
        self.expect(":", help)?;
        let start = self.span;
        let kind = if self.take_word("register") {
            let list = self.braced(|p| {
                if p.take("_") {
                    return Ok(None);
                }
                let help = "as in `register { a, b, _, c }`; `_` is a code without a register";
                let range = p.name_range(help)?;
                let mut spellings = Vec::new();
                while p.take("/") {
                    spellings.push(p.name("another spelling", "as in `register { x0/zero, x1/ra }`")?);
                }
                let reads = if p.take("=") { Some(p.expression()?) } else { None };
                Ok(Some(ListedRegister { range, spellings, reads }))
            })?;
            FieldKind::Register(list, start)
        } else if self.take_word("enum") {
            let list = self.braced(|p| {
                let range = p.name_range("as in `enum { low = 0, high = 3 }` or `enum { r0..r7 }`")?;
                let mut value = if p.take("=") { Some(p.expression()?) } else { None };
                let names = spread(&range, p.diagnostics);
                Ok(names.into_iter().map(|name| (name, value.take())).collect::<Vec<_>>())
            })?;
            FieldKind::Enumeration(list.concat(), start)
        } else if self.take_word("words") {
            FieldKind::Words(self.braced(Self::word_group)?, start)
        } else {
            FieldKind::Number(Box::new(self.number_kind(help)?))
        };
        Ok(Fields { names, kind, documentation: String::new() })
    }

    /// Reads `cla = 8`, or `(ral = 2 | rar = 4)`.
    fn word_group(&mut self) -> Parsed<WordGroup> {
        let help = "as in `words { cla = 8, (ral = 2 | rar = 4), iac = 1 }`";
        let word = |p: &mut Self| {
            let name = p.name("a word", help)?;
            let value = if p.take("=") { Some(p.operand()?) } else { None };
            Ok((name, value))
        };
        let start = self.span;
        let mut alternatives = Vec::new();
        if self.take("(") {
            alternatives.push(self.list(word)?);
            while self.take("|") {
                self.skip_newlines();
                alternatives.push(self.list(word)?);
            }
            self.expect(")", help)?;
        } else {
            alternatives.push(vec![word(self)?]);
        }
        let span = start.to(self.cursor.span(start.start as usize, self.last_end));
        Ok(WordGroup { alternatives, span })
    }

    /// Reads `{ item, item, … }` over any number of lines.
    pub(super) fn braced<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.open_brace("a list is written between `{` and `}`")?;
        self.skip_newlines();
        let items = self.list(item)?;
        self.skip_newlines();
        let same_line =
            self.cursor.text().get(self.last_end..self.span.start as usize).is_some_and(|text| !text.contains('\n'));
        if same_line && matches!(self.token, Token::Name(_)) {
            let (found, span) = self.found();
            let between = self.cursor.span(self.last_end, self.last_end);
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, format!("expected `,` or `}}`, found {found}"));
            let help = "items are separated by `,` and the list ends with `}`";
            return self.fail_with(diagnostic.help(help).safe_fix(between, ","));
        }
        self.expect("}", "items are separated by `,` and the list ends with `}`")?;
        Ok(items)
    }

    /// Reads `u16 little address`, `s8 from next` and so on.
    pub(crate) fn number_kind(&mut self, help: &str) -> Parsed<Number> {
        let start = self.span;
        let ty = self.ty(help)?;
        let (order, names) = (self.order(), Vec::new());
        let mut number = Number { ty, order, align: None, address: None, low: false, names, values: None, span: start };
        if self.take_word("in") {
            number.values = Some(self.braced(Self::listed_value)?);
            number.span = start.to(self.cursor.span(start.start as usize, self.last_end));
            return Ok(number);
        }
        if self.take_word("low") {
            number.low = true;
        }
        if self.take_word("align") {
            number.align = Some(self.operand()?);
        }
        number.address = self.address_kind()?;
        if self.is("{") {
            number.names = self.braced(|p| {
                let help = "as in `u12 { mtvec = 0x305 }`";
                let name = p.name("the name of a value", help)?;
                p.expect("=", help)?;
                Ok((name, p.expression()?))
            })?;
        }
        number.span = start.to(self.cursor.span(start.start as usize, self.last_end));
        Ok(number)
    }

    /// Reads `8`, `1..7`, or `_` for a code without a value.
    fn listed_value(&mut self) -> Parsed<ListedValue> {
        if self.take("_") {
            return Ok(None);
        }
        let first = self.expression()?;
        let last = if self.take("..") { Some(self.expression()?) } else { None };
        Ok(Some((first, last)))
    }

    fn address_kind(&mut self) -> Parsed<Option<AddressKind>> {
        let address = self.take_word("address");
        let back = self.take_word("back");
        if self.take_word("from") {
            let from = if self.take_word("here") {
                Origin::Here
            } else if self.pc_or_next()? {
                Origin::Next
            } else {
                Origin::Pc
            };
            return Ok(Some(AddressKind::Relative { back, from, number_is_address: address }));
        }
        if back {
            return self.unexpected("`from`", "as in `u8 back from next`");
        }
        if self.take_word("within") {
            let page = if matches!(self.token, Token::Number(_)) {
                Page::Address(self.operand()?)
            } else if self.pc_or_next()? {
                Page::Next
            } else {
                Page::Pc
            };
            return Ok(Some(AddressKind::Within(page)));
        }
        if !address {
            return Ok(None);
        }
        let memory = if self.take_word("in") { Some(self.name("a memory", "as in `address in data`")?) } else { None };
        Ok(Some(AddressKind::Absolute(memory)))
    }

    fn pc_or_next(&mut self) -> Parsed<bool> {
        if self.take_word("next") {
            return Ok(true);
        }
        self.expect_word("pc", "count from `next` (the following instruction) or from `pc` (this one)")?;
        Ok(false)
    }

    fn device(&mut self) -> Parsed<Device> {
        let help = "as in `device console : stream` or `device port : bus u8 -> u8`";
        let name = self.name("the device's name", help)?;
        self.expect(":", help)?;
        let word = self.name("the kind of device", help)?;
        let kind = match word.text.as_str() {
            "stream" => DeviceKind::Stream,
            "bus" => {
                let address = self.ty(help)?;
                self.expect("->", help)?;
                DeviceKind::Bus(address, self.ty(help)?)
            }
            "display" => {
                let width = self.operand()?;
                self.expect_word("by", "as in `device screen : display 64 by 32`")?;
                DeviceKind::Display(width, self.operand()?)
            }
            "keypad" => DeviceKind::Keypad(self.operand()?),
            "timer" => {
                let help = "as in `device delay : timer u8 every 10`: it counts down once every 10 instructions";
                let ty = self.ty(help)?;
                self.expect_word("every", help)?;
                DeviceKind::Timer(ty, self.operand()?)
            }
            "random" => DeviceKind::Random(self.ty("as in `device dice : random u8`")?),
            "counter" => DeviceKind::Counter,
            _ => DeviceKind::Unknown,
        };
        Ok(Device { name, word, kind, documentation: String::new() })
    }

    fn parameters(&mut self) -> Parsed<Vec<(Name, Type)>> {
        let help = "as in `(x: u8, y: u8)`";
        self.expect("(", help)?;
        if self.take(")") {
            return Ok(Vec::new());
        }
        let parameters = self.list(|p| {
            let name = p.name("a parameter", help)?;
            p.expect(":", help)?;
            Ok((name, p.ty(help)?))
        })?;
        self.expect(")", help)?;
        Ok(parameters)
    }

    fn result(&mut self) -> Parsed<Option<Type>> {
        if self.take("->") { self.ty("as in `-> u8`").map(Some) } else { Ok(None) }
    }

    fn function(&mut self) -> Parsed<Function> {
        let name = self.name("the function's name", "as in `fn pop() -> u8 { … }`")?;
        let parameters = self.parameters()?;
        let result = self.result()?;
        if self.is("=") {
            return self.unexpected("`{`", "a function's value stands in a block, as in `{ x + x }`");
        }
        Ok(Function { name, parameters, result, body: self.block()?, documentation: String::new() })
    }

    fn family(&mut self) -> Parsed<Family> {
        let help = "as in `family OP : u4 (x: u8, y: u8) -> u8 { add = x + y }`";
        let name = self.name("the family's name", help)?;
        self.expect(":", help)?;
        let ty = self.ty(help)?;
        let parameters = if self.is("(") { self.parameters()? } else { Vec::new() };
        let result = self.result()?;
        let members = self.rows("members", |p| {
            let documentation = p.take_documentation();
            let name = p.name("the name of a member", "as in `add = x + y`")?;
            let code = if p.is("=") { None } else { Some(p.operand()?) };
            p.expect("=", "as in `add = x + y`, or `add 7 = x + y` to give its code")?;
            Ok(Member { name, code, body: p.line_block()?, documentation })
        })?;
        Ok(Family { name, ty, parameters, result, members, documentation: String::new() })
    }

    /// Reads `S, D : u6 of uK { … }`.
    fn operands(&mut self) -> Parsed<Operands> {
        let help = "as in `operand S, D : u6 { … }`, or `operand S, D : u6 of uK { … }` if rows say how wide it is";
        let names = self.list(|p| p.name("the operand's name", help))?;
        self.expect(":", help)?;
        let ty = self.ty(help)?;
        let letter = if self.take_word("of") { Some(self.letter(help)?) } else { None };
        let start = self.last_end;
        let mut lines = 0;
        let modes = self.rows("modes", |parser| {
            lines += 1;
            parser.mode()
        })?;
        if lines == 0 {
            let message = format!("the operand `{}` has no modes", names[0].text);
            let help = "add a line for each way to write it: `syntax | encoding | what it is`";
            self.report(Diagnostic::new(codes::MISSING_ITEM, names[0].span, message).help(help));
        }
        let commented = self.commented(start);
        Ok(Operands { names, ty, letter, modes, commented, documentation: String::new() })
    }

    /// Reads `uK`: a width that is not a number.
    fn letter(&mut self, help: &str) -> Parsed<Name> {
        let ty = self.ty(help)?;
        match &ty.width.kind {
            ExprKind::Name(letter) => Ok(Name { text: letter.clone(), span: ty.span }),
            _ => {
                let message = "the width that rows choose is a letter";
                self.fail(codes::UNEXPECTED, ty.span, message, "write `of uK`, and `uK` and `K` in the modes")
            }
        }
    }

    /// Reads `ix 0xDD with hl = ix, h = ixh { … }`.
    fn prefix(&mut self) -> Parsed<Prefix> {
        let help = "as in `prefix ix 0xDD with hl = ix { cycles + 4 }`";
        let name = self.name("the prefix's name", help)?;
        let picture = self.rest_before(&[" with ", "{"]);
        if picture.text.is_empty() {
            return self.unexpected("the bits of the prefix", help);
        }
        let renames = if self.take_word("with") {
            self.list(|p| {
                let from = p.name("a register", help)?;
                p.expect("=", help)?;
                Ok((from, p.name("the register that it is after this prefix", help)?))
            })?
        } else {
            Vec::new()
        };
        let body = if self.is("{") { self.block()? } else { Block::default() };
        Ok(Prefix { name, picture, renames, body, documentation: String::new() })
    }

    /// Reads `u8`, `sK`, `u(2 * K)`.
    pub(super) fn ty(&mut self, help: &str) -> Parsed<Type> {
        let span = self.span;
        if let Token::Number(Some(bits)) = self.token {
            let message = format!("expected a type, found the number {bits}");
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, message);
            let diagnostic = diagnostic.help(format!("write `u{bits}` for {bits} bits"));
            return self.fail_with(diagnostic.safe_fix(span, format!("u{bits}")));
        }
        let Token::Name(text) = &self.token else { return self.unexpected("a type such as `u8`", help) };
        let text = text.clone();
        let signed = text.starts_with('s');
        let rest = text.strip_prefix(['u', 's']).unwrap_or("");
        let width = |kind| Box::new(Expr { kind, span });
        if let Some(bits) = rest.parse().ok().filter(|_| rest.bytes().all(|b| b.is_ascii_digit())) {
            self.advance();
            return Ok(Type { signed, width: width(ExprKind::Number(bits)), span });
        }
        if rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_uppercase()) {
            self.advance();
            return Ok(Type { signed, width: width(ExprKind::Name(rest.to_owned())), span });
        }
        if text == "u" || text == "s" {
            self.advance();
            self.expect("(", "as in `u(2 * K)`")?;
            let inner = self.expression()?;
            self.expect(")", "as in `u(2 * K)`")?;
            return Ok(Type { signed, width: Box::new(inner), span });
        }
        if let Some(meant) = type_elsewhere(&text) {
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, format!("there is no type `{text}`"));
            return self.fail_with(diagnostic.did_you_mean(span, &meant));
        }
        self.unexpected("a type such as `u8` or `s16`", help)
    }
}

/// Translates a type of another language: `u8` for `byte` and `uint8_t`, `s8` for `i8`.
fn type_elsewhere(text: &str) -> Option<String> {
    match text {
        "bit" | "bool" | "flag" => return Some("u1".to_owned()),
        "byte" | "char" => return Some("u8".to_owned()),
        _ => {}
    }
    let text = text.strip_suffix("_t").unwrap_or(text);
    let begins = [("uint", 'u'), ("bits", 'u'), ("int", 's'), ("i", 's')];
    let (bits, sign) = begins.iter().find_map(|(begin, sign)| Some((text.strip_prefix(begin)?, sign)))?;
    let is_width = !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit());
    is_width.then(|| format!("{sign}{bits}"))
}
