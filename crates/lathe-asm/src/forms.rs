//! From a line to the instructions it may mean: matches the forms of its mnemonic and expands pseudo-instructions.

use lathe_base::numbers::ByName;
use lathe_base::{Diagnostic, FileId, Span, nearest};
use lathe_isa::Isa;
use lathe_isa::matching::{Found, Line, Mismatch, match_line, match_operand, minus_is_next};
use lathe_isa::model::{Assembly, Base, Domain, Field, FieldId, InstructionId, Target, Values};
use lathe_isa::operand::Location;
use lathe_isa::pseudo::{Argument, Arithmetic, Pseudo, Template};
use lathe_isa::syntax::{Head, Piece, PieceKind, Syntax};
use lathe_isa::words::Clash;

use crate::codes;
use crate::expression::{ExprId, Expressions, Fit, NodeKind};
use crate::parser::{ChosenBy, Reading};
use crate::program::{Alternative, Operand};
use crate::tokens;
use crate::words::in_small_letters;

/// All forms of a machine.
pub(crate) struct Forms<'i> {
    isa: &'i Isa,
    /// By the first token of a line, in lowercase.
    by_first: ByName<Vec<Form>>,
    /// Forms whose first word contains an operand.
    glued: Vec<Form>,
    /// All other forms, as a tree. The first branch is the beginning of a line.
    branches: Vec<Branch>,
}

/// How forms with a common beginning continue. A line is matched along the branches, so that a mnemonic with ten
/// thousand rows is not tried ten thousand times.
#[derive(Default)]
struct Branch {
    /// Words and marks, by their first token in lowercase, with the branch after each.
    texts: ByName<Vec<(String, usize)>>,
    /// Operands, with the branch after each.
    operands: Vec<(OperandOf, usize)>,
    /// The branch to take if the next token is a `-` that belongs to an operand.
    negative: Option<usize>,
    /// The forms that are complete here, with the number of words and marks on the way.
    ends: Vec<(Form, usize)>,
}

/// What an operand belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandOf {
    /// A field of an instruction.
    Field(FieldId),
    /// A parameter of a pseudo-instruction.
    Parameter(usize, usize),
}

/// The most forms of a mnemonic that a message shows.
const SHOWN: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Instruction(InstructionId),
    Pseudo(usize),
}

/// A form that a line fits, with its operands.
type Matched = (Form, Vec<Found<ExprId>>);

/// One instruction to encode, with the alternative ways to encode it.
pub(crate) type Choice = Vec<(InstructionId, Vec<Operand>)>;

impl<'i> Forms<'i> {
    pub(crate) fn new(isa: &'i Isa) -> Self {
        let branches = vec![Branch::default()];
        let mut forms = Forms { isa, by_first: ByName::default(), glued: Vec::new(), branches };
        let instructions = (0..isa.instructions.len() as u32).map(|at| Form::Instruction(InstructionId(at)));
        for form in instructions.chain((0..isa.pseudos.len()).map(Form::Pseudo)) {
            for head in &forms.syntax(form).heads {
                match head {
                    Head::Word(word) => {
                        forms.by_first.entry(first_token(word, &isa.assembly)).or_default().push(form);
                        let first = forms.after_text(0, word);
                        forms.plant(first, form, &forms.syntax(form).pieces, 0);
                    }
                    Head::Named(_) => {
                        for name in forms.field(form, 0).names() {
                            forms.by_first.entry(name.to_ascii_lowercase()).or_default().push(form);
                        }
                        let first = forms.after_operand(0, forms.operand_of(form, 0));
                        forms.plant(first, form, &forms.syntax(form).pieces, 0);
                    }
                    Head::Glued { .. } => forms.glued.push(form),
                }
            }
        }
        forms
    }

    /// Adds a form's remaining pieces to the branches, beginning at `at`. `texts` counts the words and marks before
    /// them.
    fn plant(&mut self, at: usize, form: Form, pieces: &'i [Piece], texts: usize) {
        let [piece, rest @ ..] = pieces else {
            self.branches[at].ends.push((form, texts));
            return;
        };
        if piece.kind == PieceKind::Sign {
            let negative = self.after_sign(at);
            self.plant(negative, form, rest, texts);
        }
        match &piece.kind {
            PieceKind::Operand(operand) => {
                let next = self.after_operand(at, self.operand_of(form, *operand));
                self.plant(next, form, rest, texts);
            }
            text => {
                let next = self.after_text(at, text.text().unwrap_or_default());
                self.plant(next, form, rest, texts + 1);
            }
        }
    }

    fn after_sign(&mut self, at: usize) -> usize {
        let next = self.branches.len();
        let negative = *self.branches[at].negative.get_or_insert(next);
        if negative == next {
            self.branches.push(Branch::default());
        }
        negative
    }

    fn after_text(&mut self, at: usize, text: &str) -> usize {
        let next = self.branches.len();
        let texts = self.branches[at].texts.entry(first_token(text, &self.isa.assembly)).or_default();
        if let Some((_, known)) = texts.iter().find(|(known, _)| known.eq_ignore_ascii_case(text)) {
            return *known;
        }
        texts.push((text.to_owned(), next));
        self.branches.push(Branch::default());
        next
    }

    fn after_operand(&mut self, at: usize, operand: OperandOf) -> usize {
        let next = self.branches.len();
        let operands = &mut self.branches[at].operands;
        if let Some((_, known)) = operands.iter().find(|(known, _)| *known == operand) {
            return *known;
        }
        operands.push((operand, next));
        self.branches.push(Branch::default());
        next
    }

    fn operand_of(&self, form: Form, operand: usize) -> OperandOf {
        match form {
            Form::Instruction(id) => OperandOf::Field(self.isa.instructions[id.index()].operands[operand]),
            Form::Pseudo(at) => OperandOf::Parameter(at, operand),
        }
    }

    fn syntax(&self, form: Form) -> &'i Syntax {
        match form {
            Form::Instruction(id) => &self.isa.instructions[id.index()].syntax,
            Form::Pseudo(at) => &self.isa.pseudos[at].syntax,
        }
    }

    fn field(&self, form: Form, operand: usize) -> &'i Field {
        match self.operand_of(form, operand) {
            OperandOf::Field(id) => self.isa.field(id),
            OperandOf::Parameter(at, operand) => &self.isa.pseudos[at].parameters[operand],
        }
    }

    /// Whether a line that begins with this word may be an instruction.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.by_first.contains_key(&*in_small_letters(word))
    }

    /// Returns the known mnemonic nearest to a misspelt one.
    pub(crate) fn nearest(&self, word: &str) -> Option<&str> {
        let mut known: Vec<&str> = self.by_first.keys().map(String::as_str).collect();
        known.sort_unstable();
        nearest(word, known)
    }

    /// Returns the instructions that a whole line stands for, each with its alternatives; `None` if it fits no form.
    pub(crate) fn read(&self, reading: &mut Reading) -> Option<Vec<Choice>> {
        let mark = reading.mark();
        let mut matched = self.matched(reading);
        if matched.is_empty() {
            reading.rewind(mark);
            return None;
        }
        let most = matched.iter().map(|(texts, _)| *texts).max();
        matched.retain(|(texts, _)| Some(*texts) == most);
        let mut matched: Vec<Matched> = matched.into_iter().map(|(_, matched)| matched).collect();
        matched.sort_by_key(|(form, _)| *form);
        matched.dedup_by_key(|(form, _)| *form);
        Some(self.choices(matched, reading))
    }

    /// Returns the forms that a line fits, each with the number of the form's own words and marks.
    fn matched(&self, reading: &mut Reading) -> Vec<(usize, Matched)> {
        let start = reading.at;
        let mut matched = Vec::new();
        let mut open = vec![(0, start, Vec::new())];
        let mut ways = Vec::new();
        while let Some((branch, at, mut operands)) = open.pop() {
            let branch = &self.branches[branch];
            reading.at = at;
            if reading.at_end() {
                matched.extend(branch.ends.iter().map(|(form, texts)| (*texts, (*form, operands.clone()))));
                continue;
            }
            for (text, next) in branch.texts(reading) {
                if reading.text(text) {
                    ways.push((*next, reading.at, None));
                }
                reading.at = at;
            }
            if let Some(next) = branch.negative.filter(|_| minus_is_next(reading)) {
                ways.push((next, at, None));
            }
            for (operand, next) in &branch.operands {
                let field = match *operand {
                    OperandOf::Field(id) => self.isa.field(id),
                    OperandOf::Parameter(pseudo, operand) => &self.isa.pseudos[pseudo].parameters[operand],
                };
                if let Some(found) = match_operand(field, reading) {
                    ways.push((*next, reading.at, Some(found)));
                }
                reading.at = at;
            }
            // There is nearly always one way on; it takes the operands without a copy.
            let Some((next, at, found)) = ways.pop() else { continue };
            for (next, at, found) in ways.drain(..) {
                open.push((next, at, operands.iter().cloned().chain(found).collect()));
            }
            operands.extend(found);
            open.push((next, at, operands));
        }
        for form in &self.glued {
            reading.at = start;
            let mark = reading.mark();
            match match_line(self.syntax(*form), &|operand| self.field(*form, operand), reading) {
                Ok(operands) => matched.push((self.syntax(*form).texts(), (*form, operands))),
                Err(_) => reading.rewind(mark),
            }
        }
        reading.at = start;
        matched
    }

    /// Explains why a line fits no form of its mnemonic; `None` if there is no such mnemonic.
    pub(crate) fn explain(&self, first: &str, reading: &mut Reading) -> Option<Diagnostic> {
        let named = self.by_first.get(&*in_small_letters(first)).filter(|named| !named.is_empty())?;
        if let Some(clash) = self.clash(named, reading) {
            return Some(clash);
        }
        let mut failed = Vec::new();
        for form in named.iter().chain(&self.glued).copied() {
            let mark = reading.mark();
            if let Err(mismatch) = match_line(self.syntax(form), &|operand| self.field(form, operand), reading) {
                failed.push((form, mismatch, reading.at));
            }
            reading.rewind(mark);
        }
        failed.retain(|(_, mismatch, _)| *mismatch != Mismatch::Head);
        let depth = failed.iter().map(|(_, _, at)| *at).max().unwrap_or(0);
        let deepest = failed.iter().rfind(|(_, _, at)| *at == depth);
        let (form, mismatch, at) = deepest.cloned().unwrap_or((named[0], Mismatch::Head, 0));
        let diagnostic = self.mismatch(form, &mismatch, at, reading);
        // Of many forms, show those that fit as much of the line as any.
        let fits = |form: &&Form| failed.iter().any(|(other, _, at)| other == *form && *at == depth);
        let nearest = named.iter().filter(|form| named.len() <= SHOWN || fits(form)).take(SHOWN);
        let described = nearest.map(|form| format!("`{}`", self.describe(*form)));
        Some(diagnostic.help(format!("it is written {}", described.collect::<Vec<_>>().join(" or "))))
    }

    /// Explains why the line's first words cannot stand together, where the first belongs to an operand made of words.
    fn clash(&self, named: &[Form], reading: &Reading) -> Option<Diagnostic> {
        let texts: Vec<&str> = reading.tokens[reading.at..].iter().map(|token| reading.source_text(*token)).collect();
        let fields = named.iter().filter(|form| matches!(self.syntax(**form).heads[0], Head::Named(_)));
        let fields = fields.map(|form| self.field(*form, 0)).filter(|field| field.has_words());
        let words = |field: &Field| texts.iter().take_while(|text| field.word(text).is_some()).count();
        let field = fields.max_by_key(|field| words(field))?;
        let count = words(field);
        let place = |word: &str| {
            let at = texts.iter().rposition(|text| text.eq_ignore_ascii_case(word)).unwrap_or(0);
            reading.tokens[reading.at + at].span
        };
        let (span, message, help) = match field.together(&texts[..count]) {
            Err(Clash::Exclude(first, second)) => {
                (place(&second), format!("`{second}` cannot stand together with `{first}`"), "write one of them")
            }
            Err(Clash::AddsNothing(word)) => {
                (place(&word), format!("`{word}` adds nothing to the other words"), "remove it")
            }
            _ => {
                let next = texts.get(count).filter(|next| self.knows(next))?;
                let message = format!("`{next}` cannot stand together with `{}`", texts[..count].join(" "));
                (place(next), message, "write two instructions")
            }
        };
        Some(Diagnostic::new(codes::NO_FORM, span, message).help(help))
    }

    /// Returns the alternatives for one instruction, or the sequence of a longer pseudo-instruction.
    fn choices(&self, mut matched: Vec<Matched>, reading: &mut Reading) -> Vec<Choice> {
        let is_sequence = |form: Form| matches!(form, Form::Pseudo(at) if self.isa.pseudos[at].expansion.len() > 1);
        if matched.iter().any(|(form, _)| is_sequence(*form)) {
            // Sequences do not grow once addresses are known, so choose now.
            matched.sort_by_key(|(form, _)| self.cells(*form));
            let last = matched.len() - 1;
            let chosen = matched.iter().position(|(form, operands)| self.fits_now(*form, operands, reading));
            let (form, operands) = matched.swap_remove(chosen.unwrap_or(last));
            return self.instructions(form, operands, reading);
        }
        if let [(form @ Form::Instruction(_), operands)] = matched.as_mut_slice() {
            return self.instructions(*form, std::mem::take(operands), reading);
        }
        let mut choice: Choice = Vec::new();
        for (form, operands) in matched {
            choice.extend(self.instructions(form, operands, reading).into_iter().flatten());
        }
        self.shortest_first(&mut choice);
        vec![choice]
    }

    fn shortest_first(&self, choice: &mut Choice) {
        if choice.len() > 1 {
            choice.sort_by_key(|(id, _)| self.isa.instruction(*id).encoding.cells);
        }
    }

    /// Returns the instructions that a form stands for.
    fn instructions(&self, form: Form, operands: Vec<Found<ExprId>>, reading: &mut Reading) -> Vec<Choice> {
        match form {
            Form::Instruction(id) => vec![vec![(id, operands.into_iter().map(operand).collect())]],
            Form::Pseudo(at) => self.expand(&self.isa.pseudos[at], &operands, reading),
        }
    }

    fn cells(&self, form: Form) -> u32 {
        let cells = |id: InstructionId| self.isa.instruction(id).encoding.cells;
        match form {
            Form::Instruction(id) => cells(id),
            Form::Pseudo(at) => self.isa.pseudos[at]
                .expansion
                .iter()
                .filter_map(|part| part.forms.first())
                .map(|(id, _)| cells(*id))
                .sum(),
        }
    }

    /// Whether all operands are known already and fit.
    fn fits_now(&self, form: Form, operands: &[Found<ExprId>], reading: &mut Reading) -> bool {
        operands.iter().enumerate().all(|(at, operand)| match operand {
            Found::Bits(_) => true,
            Found::Value(expr) => {
                let field = self.field(form, at);
                let names = &mut reading.names;
                if !names.expressions.is_number(*expr) {
                    reading.chosen_by = reading.chosen_by.max(ChosenBy::Values);
                }
                let plain = match &field.domain {
                    Domain::Number(numeric) => numeric.target.is_none(),
                    domain => matches!(domain, Domain::Values(_)),
                };
                let value = names.expressions.value(*expr, None, names.symbols).ok().filter(|_| plain);
                value.is_some_and(|value| {
                    field.bits_of(value.number, Location { pc: 0, next: 0, width: self.isa.pc.width }).is_some()
                })
            }
        })
    }

    fn expand(&self, pseudo: &Pseudo, operands: &[Found<ExprId>], reading: &mut Reading) -> Vec<Choice> {
        let cells =
            |template: &Template| template.forms.first().map_or(0, |(id, _)| self.isa.instruction(*id).encoding.cells);
        let last = pseudo.expansion.len().saturating_sub(1);
        let expand = |(at, template): (usize, &Template)| {
            let ahead = pseudo.expansion[at..last].iter().map(cells).sum::<u32>();
            let call = Use { pseudo, operands, ahead: u8::try_from(ahead).unwrap_or(u8::MAX) };
            self.template(&call, template, reading)
        };
        pseudo.expansion.iter().enumerate().map(expand).collect()
    }

    fn template(&self, call: &Use, template: &Template, reading: &mut Reading) -> Choice {
        let mut choice = Vec::new();
        for (id, arguments) in &template.forms {
            let fields = &self.isa.instruction(*id).operands;
            let bound = arguments.iter().zip(fields).map(|(argument, field)| match argument {
                Argument::Bits(bits) => Some(Operand::Bits(*bits)),
                Argument::Parameter(at) => {
                    let (parameter, given) = (&call.pseudo.parameters[*at], &call.operands[*at]);
                    same_name(parameter, given, self.isa.field(*field)).map(Operand::Bits)
                }
                Argument::Value(value) => Some(Operand::Value(call.arithmetic(value, reading))),
            });
            // A short form may lack some registers.
            let bound: Option<Vec<Operand>> = bound.collect();
            choice.extend(bound.map(|bound| (*id, bound)));
        }
        self.shortest_first(&mut choice);
        choice
    }

    /// Reports what is wrong where a form stops fitting.
    fn mismatch(&self, form: Form, mismatch: &Mismatch, at: usize, reading: &Reading) -> Diagnostic {
        let place = |at: usize| reading.tokens.get(at).map_or_else(|| reading.end(), |token| token.span);
        if let Some(failure) = reading.failure.as_ref().filter(|failure| failure.span.start > place(at).start) {
            return reading.no_expression(failure);
        }
        let wanted = match mismatch {
            Mismatch::Head => return Diagnostic::new(codes::NO_FORM, place(at), "this does not fit"),
            Mismatch::Text(text) => format!("`{text}`"),
            Mismatch::Operand(operand) => kind_of(self.field(form, *operand)),
            Mismatch::Rest => {
                let found = reading.found(at);
                let diagnostic =
                    Diagnostic::new(codes::NO_FORM, place(at), format!("unexpected {found} after the instruction"));
                let is_comment = reading.tokens.get(at).is_some_and(|token| token.is_mark('#'));
                return diagnostic.help_if(is_comment.then_some("comments begin with `;`"));
            }
        };
        let message = format!("expected {wanted}, found {}", reading.found(at));
        let diagnostic = Diagnostic::new(codes::NO_FORM, place(at), message);
        let is_mark = |mark: char| reading.tokens.get(at).is_some_and(|token| token.is_mark(mark));
        match mismatch {
            Mismatch::Operand(_) if is_mark('#') => diagnostic.help("write the number without `#`").fix(place(at), ""),
            _ => diagnostic,
        }
    }

    /// Renders a form's syntax, with each operand replaced by what it may be.
    fn describe(&self, form: Form) -> String {
        self.syntax(form).render(|operand| {
            let field = self.field(form, operand);
            match &field.domain {
                Domain::Number(_) | Domain::Values(_) => format!("<{}>", kind_of(field)),
                _ => format!("<{}>", short_names(field)),
            }
        })
    }
}

impl Branch {
    /// Returns the texts that may come next. A text that begins with a mark may be part of a longer token: `$5`.
    fn texts<'b>(&'b self, reading: &Reading) -> impl Iterator<Item = &'b (String, usize)> + use<'b> {
        let token = reading.peek().map_or("", |token| reading.source_text(token));
        let mark = token.chars().next().filter(|mark| token.len() > mark.len_utf8() && !mark.is_alphanumeric());
        let whole = self.texts.get(&*in_small_letters(token));
        let begun = mark.and_then(|mark| self.texts.get(mark.encode_utf8(&mut [0; 4])));
        whole.into_iter().chain(begun).flatten()
    }
}

/// Returns the first token of `text`, split as a line would be, in lowercase.
fn first_token(text: &str, habits: &Assembly) -> String {
    let mut tokens = Vec::new();
    tokens::line(FileId(0), text, 0, habits, &mut tokens);
    let first = text.chars().next().map_or(0, char::len_utf8);
    let is_whole = |token: &&tokens::Token| {
        token.span.start == 0 && matches!(token.kind, tokens::Kind::Word | tokens::Kind::Number(_))
    };
    let whole = tokens.first().filter(is_whole);
    text[..whole.map_or(first, |token| token.span.end as usize)].to_ascii_lowercase()
}

fn operand(found: Found<ExprId>) -> Operand {
    match found {
        Found::Bits(bits) => Operand::Bits(bits),
        Found::Value(value) => Operand::Value(value),
    }
}

/// Describes what an operand must be, for messages.
pub(crate) fn kind_of(field: &Field) -> String {
    match &field.domain {
        Domain::Number(numeric) if numeric.target.is_some() => "an address".to_owned(),
        Domain::Number(_) => bits(field.width.bits()),
        Domain::Values(values) => format!("one of {}", listed(values)),
        _ => format!("one of {}", short_names(field)),
    }
}

/// Returns text such as `an 8-bit number`.
fn bits(width: u32) -> String {
    let article = if matches!(width, 8 | 11 | 18) { "an" } else { "a" };
    format!("{article} {width}-bit number")
}

/// Lists the numbers of a list, runs as ranges.
pub(crate) fn listed(values: &Values) -> String {
    let mut ranges: Vec<(i128, i128)> = Vec::new();
    for (_, number) in values.numbers() {
        match ranges.last_mut().filter(|(_, last)| *last + 1 == number) {
            Some((_, last)) => *last = number,
            None => ranges.push((number, number)),
        }
    }
    let range = |(first, last): &(i128, i128)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let shown: Vec<String> = ranges.iter().take(SHOWN).map(range).collect();
    shown.join(", ") + if ranges.len() > SHOWN { ", …" } else { "" }
}

/// Lists the names of a field, leaving out the middle of a long list.
fn short_names(field: &Field) -> String {
    let names: Vec<&str> = field.names().collect();
    match names.as_slice() {
        [first, second, .., last] if names.len() > 8 => format!("{first}, {second}, … {last}"),
        _ => names.join(", "),
    }
}

/// Returns the bits of `field` for the name given as a parameter, if `field` has that name.
fn same_name(parameter: &Field, given: &Found<ExprId>, field: &Field) -> Option<u64> {
    let Found::Bits(bits) = given else { return Some(0) };
    let name = match &parameter.domain {
        Domain::Registers(list) => list.get(*bits as usize).and_then(Option::as_ref).map(|(name, _)| name.as_str()),
        Domain::Names(list) => list.iter().find(|(_, value)| value == bits).map(|(name, _)| name.as_str()),
        Domain::Number(_) | Domain::Values(_) => None,
    };
    name.and_then(|name| field.bits_named(name))
}

/// One use of a pseudo-instruction, for one of its instructions.
struct Use<'u> {
    pseudo: &'u Pseudo,
    operands: &'u [Found<ExprId>],
    /// Cells from that instruction to the last one, which is the only one that may jump.
    ahead: u8,
}

impl Use<'_> {
    /// Turns arithmetic of the definition into an expression of the program.
    fn arithmetic(&self, value: &Arithmetic, reading: &mut Reading) -> ExprId {
        let whole = reading.tokens.first().map_or(Span::default(), |token| token.span);
        let mut parameter = |at: usize, expressions: &mut Expressions| self.parameter(at, expressions);
        reading.names.expressions.arithmetic(value, whole, &mut parameter)
    }

    fn parameter(&self, at: usize, expressions: &mut Expressions) -> ExprId {
        let field = &self.pseudo.parameters[at];
        let expr = match &self.operands[at] {
            Found::Value(expr) => *expr,
            Found::Bits(bits) => return expressions.number(i128::from(*bits), Span::default()),
        };
        let Domain::Number(numeric) = &field.domain else { return expr };
        let kind = match numeric.target {
            None => {
                let negative = numeric.signed || numeric.wraps;
                NodeKind::Fit(expr, Fit { width: field.width, negative, signed: numeric.signed, low: numeric.low })
            }
            Some(Target::Within(Base::Pc | Base::Next)) => NodeKind::SamePage(expr, field.width, self.ahead),
            Some(_) => return expr,
        };
        let span = expressions.span(expr);
        expressions.add(kind, span)
    }
}

/// Adds a choice to a program's lists; returns the position of the first alternative and their number.
pub(crate) fn add_choice(
    choice: &Choice,
    alternatives: &mut Vec<Alternative>,
    operands: &mut Vec<Operand>,
) -> (u32, u16) {
    let first = alternatives.len() as u32;
    for (instruction, list) in choice {
        alternatives.push(Alternative { instruction: *instruction, operands: operands.len() as u32 });
        operands.extend_from_slice(list);
    }
    (first, choice.len() as u16)
}
