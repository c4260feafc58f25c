//! Lines that were read before and still mean the same, so that a change to one line does not mean reading the whole
//! program again. The meaning of such a line must follow from its own text, from the machine and, if they chose its
//! form, from the values of its names; every other line is read each time.

use std::collections::HashMap;

use lathe_base::{FileId, Span};

use super::Reader;
use crate::expression::{ExprId, Node, NodeKind, Value};
use crate::parser::ChosenBy;
use crate::program::{Alternative, Item, ItemKind, Operand, Program, Texts};
use crate::symbols::SymbolId;

/// Lines of a program as they were read, for the next time it is assembled. Belongs to one machine.
#[derive(Debug, Default)]
pub struct KnownLines {
    by_text: HashMap<Box<str>, Known>,
    /// How many times a program has been assembled with these lines.
    round: u32,
    /// How many lines were kept the last time lines were forgotten.
    kept: usize,
}

/// How many new lines may accumulate before old ones are forgotten: typing leaves one at every keystroke.
const SPARE: usize = 1_000;

/// A line that contains only instructions. Its spans are relative to its beginning, its list positions to its own first
/// entry.
#[derive(Debug)]
struct Known {
    /// The last round it occurred in.
    round: u32,
    /// Its first word.
    word: Span,
    /// From its first word to its last.
    place: Span,
    nodes: Box<[Node]>,
    operands: Box<[Operand]>,
    alternatives: Box<[Alternative]>,
    /// For each instruction, its first alternative and how many there are.
    instructions: Box<[(u32, u16)]>,
    /// The values of its names, if they chose the form.
    values: Option<Box<[Option<Value>]>>,
}

/// The lengths of a program's lists before a line.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    items: usize,
    nodes: usize,
    operands: usize,
    alternatives: usize,
}

impl KnownLines {
    /// Begins to assemble a program. Now and then, forgets lines that the previous program did not contain.
    pub(crate) fn begin(&mut self) {
        let last = self.round;
        self.round += 1;
        if self.by_text.len() > self.kept + SPARE {
            self.by_text.retain(|_, known| known.round == last);
            self.kept = self.by_text.len();
        }
    }
}

impl Lengths {
    pub(super) fn of(program: &Program) -> Lengths {
        Lengths {
            items: program.items.len(),
            nodes: program.expressions.len(),
            operands: program.operands.len(),
            alternatives: program.alternatives.len(),
        }
    }
}

impl Reader<'_> {
    /// Reads a line as it was read before, if it is known.
    pub(super) fn repeat(&mut self, file: FileId, start: usize, line: &str) -> bool {
        let (active, call) = (self.active(), self.call());
        let Some(lines) = &mut self.known else { return false };
        let Some(known) = lines.by_text.get_mut(line) else { return false };
        // Macros come and go with other lines, and take precedence over instructions.
        if !active || self.macros.contains_key(&line[known.word.range()]) {
            return false;
        }
        let program = &mut self.program;
        let before = Lengths::of(program);
        for node in &known.nodes {
            let kind = match node.kind {
                NodeKind::Symbol(_) => {
                    let name = &line[node.span.range()];
                    let id = program.symbols.intern(name, moved(node.span, file, start));
                    program.symbols.entry_mut(id).used = true;
                    NodeKind::Symbol(id)
                }
                kind => kind.map(|id| ExprId(id.0 + before.nodes as u32)),
            };
            program.expressions.add(kind, moved(node.span, file, start));
        }
        if known.values.as_ref().is_some_and(|values| *values != values_of_names(program, before)) {
            program.expressions.truncate(before.nodes);
            return false;
        }
        known.round = lines.round;
        program.operands.extend(known.operands.iter().map(|operand| match operand {
            Operand::Value(id) => Operand::Value(ExprId(id.0 + before.nodes as u32)),
            Operand::Bits(bits) => Operand::Bits(*bits),
        }));
        let alternatives = known.alternatives.iter();
        program
            .alternatives
            .extend(alternatives.map(|one| Alternative { operands: one.operands + before.operands as u32, ..*one }));
        self.line = moved(known.place, file, start);
        for (first, count) in &known.instructions {
            let first = first + before.alternatives as u32;
            let kind = ItemKind::Instruction { first, count: *count, chosen: 0 };
            program.items.push(Item { kind, span: self.line, call });
        }
        true
    }

    /// Remembers the line being read, which begins with `word` and has added instructions to the program.
    ///
    /// Its names are those in its expressions: a word that another form would have read as a name is a name here too,
    /// since words of the machine are never names.
    pub(super) fn remember(&mut self, word: Span, before: Lengths, chosen_by: ChosenBy, texts: &Texts) {
        let (Some(lines), Some(line)) = (&mut self.known, self.whole_line.clone()) else { return };
        let (text, start) = (&texts.sources[word.file.0 as usize].text[line.clone()], line.start);
        let values = match chosen_by {
            ChosenBy::Text => None,
            ChosenBy::Values => Some(values_of_names(&mut self.program, before)),
            ChosenBy::OtherLines => return,
        };
        let program = &self.program;
        let mut nodes = program.expressions.since(before.nodes).to_vec();
        for node in &mut nodes {
            match &mut node.kind {
                NodeKind::Symbol(id) => {
                    let name = program.symbols.entry(*id).name.as_ref();
                    let written = text.get((node.span.start as usize - start)..(node.span.end as usize - start));
                    // The meaning of a local label depends on where it is.
                    if written != Some(name) || name.starts_with('.') {
                        return;
                    }
                    *id = SymbolId(0);
                }
                NodeKind::Wide(_) => return,
                kind => *kind = kind.map(|id| ExprId(id.0 - before.nodes as u32)),
            }
            node.span = counted_from(node.span, start);
        }
        let operands = program.operands[before.operands..].iter().map(|operand| match operand {
            Operand::Value(id) => Operand::Value(ExprId(id.0 - before.nodes as u32)),
            Operand::Bits(bits) => Operand::Bits(*bits),
        });
        let alternatives = program.alternatives[before.alternatives..].iter();
        let alternatives =
            alternatives.map(|one| Alternative { operands: one.operands - before.operands as u32, ..*one });
        let instructions = program.items[before.items..].iter().filter_map(|item| match item.kind {
            ItemKind::Instruction { first, count, .. } => Some((first - before.alternatives as u32, count)),
            _ => None,
        });
        let known = Known {
            round: lines.round,
            word: counted_from(word, start),
            place: counted_from(self.line, start),
            nodes: nodes.into(),
            operands: operands.collect(),
            alternatives: alternatives.collect(),
            instructions: instructions.collect(),
            values,
        };
        lines.by_text.insert(text.into(), known);
    }
}

/// Returns the values of the names in the current line's expressions, as far as they are known.
fn values_of_names(program: &mut Program, before: Lengths) -> Box<[Option<Value>]> {
    let ids = (before.nodes..program.expressions.len()).map(|at| ExprId(at as u32));
    let names: Vec<ExprId> = ids.filter(|id| program.expressions.is_name(*id)).collect();
    let value = |id: ExprId| program.expressions.value(id, None, &mut program.symbols).ok();
    names.into_iter().map(value).collect()
}

/// Returns a span relative to the beginning of its line. Nodes that the definition adds have none.
fn counted_from(span: Span, start: usize) -> Span {
    if span == Span::default() {
        return span;
    }
    Span { start: span.start - start as u32, end: span.end - start as u32, file: FileId(0) }
}

fn moved(span: Span, file: FileId, start: usize) -> Span {
    if span == Span::default() {
        return span;
    }
    Span { start: span.start + start as u32, end: span.end + start as u32, file }
}
