//! Operands with modes, and program counters in fields: rows that are several instructions because an operand can be a
//! register, or memory, or the address of the next instruction.
//!
//! Both are expanded here, before encodings are compared and meanings lowered, as families and prefixes are. So
//! everything that executes, assembles or decodes sees plain instructions. The rejected alternative, an operand decoded
//! and executed on its own, would affect every engine, core and export, and would decode the same instructions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use lathe_base::{Diagnostic, Diagnostics, Width, limits};

use super::Declarations;
use super::constants::width;
use super::pictures::{self, Bit, Picture, Taker, Unit};
use super::prefixes::Sequence;
use super::rows::{Draft, conditions, member, told_apart, unnamed, with_members};
use super::syntaxes::{self, Operand, SyntaxPart, WrittenSyntax};
use crate::codes;
use crate::encoding::{Cube, Encoding, Segment, scatter, witness_within};
use crate::language::ast::{self, Item, ModeRow, Name, Order};
use crate::model::{self, Base, Domain, Field, FieldId, Form, Numeric, Target};
use crate::names::Named;

/// An operand with modes.
pub(crate) struct DeclaredModes<'a> {
    pub(crate) name: &'a Name,
    pub(crate) width: Width,
    pub(crate) documentation: &'a str,
    /// Empty if they could not be understood.
    pub(crate) modes: Rc<Vec<DeclaredMode<'a>>>,
}

/// One way to write an operand.
#[derive(Clone)]
pub(crate) struct DeclaredMode<'a> {
    pub(crate) tree: &'a ast::Mode,
    /// The letter for the width that rows give.
    pub(crate) letter: Option<&'a str>,
    written: Rc<[(SyntaxPart, bool)]>,
    /// The operand's own bits, followed by those of the cells that it adds.
    bits: Rc<[Bit]>,
    fields: Rc<[FieldId]>,
}

/// An operand of an instruction with its mode chosen.
#[derive(Clone)]
pub(crate) struct ChosenMode<'a> {
    /// The operand.
    pub(crate) operand: usize,
    pub(crate) mode: DeclaredMode<'a>,
    /// The fields of the mode, by name, as this instruction has them.
    pub(crate) fields: Vec<(String, FieldId)>,
    /// How many cells after the beginning of the instruction the cells of this operand end.
    pub(crate) end: u32,
    /// The meaning of the mode, with its registers renamed if a prefix precedes the instruction.
    pub(crate) meaning: Cow<'a, ast::Block>,
}

/// A row before its modes are chosen and the program counter is split from other registers, as people see it.
pub(crate) struct Whole {
    written: WrittenSyntax,
    operands: Vec<(String, u32)>,
    picture: Picture,
    segments: Vec<Vec<Segment>>,
}

impl Whole {
    fn new(declarations: &Declarations, written: &WrittenSyntax, picture: Picture) -> Whole {
        let takers = written.takers();
        let operand = |taker: &Taker| match taker {
            Taker::Field(id) => {
                let field = &declarations.fields[id.index()];
                (field.name.clone(), field.stored_bits())
            }
            Taker::Operand(at) => {
                let operand = &declarations.operands[*at];
                (operand.name.text.clone(), operand.width.bits())
            }
            Taker::Family(_) => Default::default(),
        };
        let segments = takers.iter().map(|taker| picture.taken.get(taker).cloned().unwrap_or_default()).collect();
        Whole { written: written.clone(), operands: takers.iter().map(operand).collect(), picture, segments }
    }

    /// Returns the row after prefixes.
    pub(super) fn after(&self, declarations: &Declarations, sequence: &Sequence, names: &[String]) -> Option<Whole> {
        let written = sequence.written(&self.written, names)?;
        Some(Whole::new(declarations, &written, sequence.before(declarations, &self.picture)))
    }

    /// Returns the row's appearance with these members of its families.
    pub(crate) fn form(&self, declarations: &Declarations, chosen: &[model::Chosen]) -> Form {
        let encoding = Encoding {
            cells: self.picture.cells,
            fixed: with_members(declarations, &self.picture, self.picture.fixed, chosen),
            excluded: Vec::new(),
            ignored: self.picture.ignored,
            operands: self.segments.clone(),
            constants: vec![0; self.segments.len()],
        };
        let syntax = self.written.syntax(|family| member(declarations, chosen, family));
        Form { syntax, operands: self.operands.clone(), encoding }
    }
}

/// The program counter as one of the registers of a field.
#[derive(Clone, Debug)]
pub(crate) struct Counter<'a> {
    pub(crate) code: u64,
    pub(crate) name: String,
    /// The value of a read; the address of the instruction, if not given.
    pub(crate) reads: Option<&'a ast::Expr>,
}

impl DeclaredModes<'_> {
    pub(crate) fn model(&self) -> model::Modes {
        let mode = |mode: &DeclaredMode| model::Mode {
            syntax: mode.tree.syntax.text.clone(),
            picture: mode.tree.picture.text.clone(),
            documentation: mode.tree.documentation.clone(),
            span: mode.tree.span,
        };
        model::Modes {
            name: self.name.text.clone(),
            width: self.width,
            modes: self.modes.iter().map(mode).collect(),
            documentation: self.documentation.to_owned(),
            span: self.name.span,
        }
    }
}

impl<'a> Declarations<'a> {
    /// Finds the operands with modes, and their modes.
    pub(crate) fn modes(&mut self, definition: &'a ast::Definition, diagnostics: &mut Diagnostics) {
        let trees: Vec<&'a ast::Operands> = definition
            .items
            .iter()
            .filter_map(|item| if let Item::Operands(operands) = item { Some(operands) } else { None })
            .collect();
        let mut blocks = Vec::new();
        for tree in trees {
            let Some(width) = width(&tree.ty, &self.names, diagnostics) else {
                tree.names.iter().for_each(|name| self.names.mark_broken(&name.text));
                continue;
            };
            for name in &tree.names {
                if self.names.declare(name, Named::Operand(self.operands.len()), diagnostics) {
                    let documentation = tree.documentation.as_str();
                    self.operands.push(DeclaredModes { name, width, documentation, modes: Rc::default() });
                }
            }
            blocks.push((tree, width));
        }
        let own: Vec<Option<Vec<DeclaredMode>>> =
            blocks.iter().map(|(tree, width)| self.own_modes(tree, *width, diagnostics)).collect();
        for (at, (tree, _)) in blocks.iter().enumerate() {
            let mut all = Vec::new();
            let whole = self.collect(&blocks, &own, at, &mut Vec::new(), &mut all, diagnostics);
            let sound = whole.and_then(|()| self.check_modes(&all, diagnostics));
            let modes = Rc::new(if sound.is_some() { all } else { Vec::new() });
            for operand in self.operands.iter_mut().filter(|operand| tree.names.contains(operand.name)) {
                operand.modes = Rc::clone(&modes);
            }
        }
    }

    /// Reads the modes in a block itself.
    fn own_modes(
        &self,
        tree: &'a ast::Operands,
        width: Width,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<DeclaredMode<'a>>> {
        for word in &tree.commented {
            if let Some(Named::Field(_)) = self.names.peek(&word.text) {
                let message = format!("`#{}` begins a comment, so this is not a mode", word.text);
                let help = format!("put the syntax in quotes: `\"#{}\" | …`", word.text);
                diagnostics.push(Diagnostic::new(codes::ROW_AS_COMMENT, word.span, message).help(help));
            }
        }
        let letter = tree.letter.as_ref().map(|letter| letter.text.as_str());
        let modes = tree.modes.iter().filter_map(|row| if let ModeRow::Mode(mode) = row { Some(mode) } else { None });
        // Every mode is read, so that each mistake is reported.
        let read: Vec<Option<DeclaredMode>> = modes.map(|mode| self.mode(mode, width, letter, diagnostics)).collect();
        read.into_iter().collect()
    }

    fn mode(
        &self,
        tree: &'a ast::Mode,
        width: Width,
        letter: Option<&'a str>,
        diagnostics: &mut Diagnostics,
    ) -> Option<DeclaredMode<'a>> {
        let written = syntaxes::read_mode(self, &tree.syntax, diagnostics)?;
        let unit = Unit { width: self.code_cell(), order: Order::Big };
        let bits = pictures::read_bits(self, &tree.picture, unit, diagnostics)?;
        let fields: Vec<FieldId> = written
            .iter()
            .filter_map(
                |(part, _)| if let SyntaxPart::Operand(Operand::Field(id), _) = part { Some(*id) } else { None },
            )
            .collect();
        let mut fail = |code, span, message: String, help: &str| {
            diagnostics.push(Diagnostic::new(code, span, message).help(help));
            None
        };
        let name = |id: FieldId| self.fields[id.index()].name.as_str();
        let has = |id: FieldId| bits.iter().any(|bit| matches!(bit, Bit::Taken(Taker::Field(own), _) if *own == id));
        if let Some(lost) = fields.iter().find(|id| !has(**id)) {
            let message = format!("`{}` is in the syntax but not in the encoding", name(*lost));
            return fail(codes::OPERAND_LOST, tree.picture.span, message, "add its bits, or remove it from the syntax");
        }
        for bit in &bits {
            let what = match bit {
                Bit::Taken(Taker::Field(id), _) if fields.contains(id) => continue,
                Bit::Taken(Taker::Field(id), _) => {
                    let message = format!("`{}` is in the encoding but not in the syntax", name(*id));
                    return fail(codes::OPERAND_LOST, tree.syntax.span, message, "add it to the syntax");
                }
                Bit::Taken(..) | Bit::Rest(_) => "a family or another operand",
                Bit::Fixed(_) | Bit::Ignored => continue,
            };
            let message = format!("{what} cannot be in the encoding of a mode");
            return fail(codes::BAD_PICTURE, tree.picture.span, message, "a mode is made of fixed bits and fields");
        }
        if bits.len() < width.bits() as usize {
            let message = format!("this mode has {} bits, but the operand has {}", bits.len(), width.bits());
            let help = "the first bits stand where a row has the operand; whole cells may follow them";
            return fail(codes::BITS_MISSING, tree.picture.span, message, help);
        }
        if tree.meaning.value.is_none() {
            let message = "this mode does not say what the operand is".to_owned();
            let help = "end it with a register, a memory cell or a value, as in `let a = R; R = R + 2; ram.u16[a]`";
            return fail(codes::NO_VALUE, tree.span, message, help);
        }
        Some(DeclaredMode { tree, letter, written: written.into(), bits: bits.into(), fields: fields.into() })
    }

    /// Collects all modes of a block, including those of the operands that it names.
    fn collect(
        &self,
        blocks: &[(&'a ast::Operands, Width)],
        own: &[Option<Vec<DeclaredMode<'a>>>],
        at: usize,
        inside: &mut Vec<usize>,
        all: &mut Vec<DeclaredMode<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        let (tree, width) = blocks[at];
        let mut modes = own[at].as_ref()?.iter();
        inside.push(at);
        for row in &tree.modes {
            let ModeRow::All(name) = row else {
                all.extend(modes.next().cloned());
                continue;
            };
            let Some(Named::Operand(_)) = self.names.find(&name.text, name.span) else {
                let is_operand = |named| matches!(named, Named::Operand(_));
                let help = "a mode is `syntax | encoding | what it is`".to_owned();
                self.names.report_wrong(name, "operand", is_operand, help, diagnostics);
                return None;
            };
            let other = blocks.iter().position(|(tree, _)| tree.names.iter().any(|known| known.text == name.text))?;
            let problem = if inside.contains(&other) {
                Some((codes::RECURSION, format!("the operand `{}` includes itself", name.text)))
            } else if blocks[other].1 != width {
                let (bits, others) = (width.bits(), blocks[other].1.bits());
                Some((codes::WIDTH_MISMATCH, format!("this operand has {bits} bits, but `{}` has {others}", name.text)))
            } else {
                None
            };
            if let Some((code, message)) = problem {
                diagnostics.push(Diagnostic::new(code, name.span, message).help("remove this line"));
                return None;
            }
            self.collect(blocks, own, other, inside, all, diagnostics)?;
        }
        inside.pop();
        if all.len() > limits::LIST {
            let message = format!("an operand has at most {} modes", limits::LIST);
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, tree.names[0].span, message).help("use fewer"));
            return None;
        }
        Some(())
    }

    /// Reports modes that share an encoding or a syntax: once, not for each row that uses them.
    fn check_modes(&self, modes: &[DeclaredMode], diagnostics: &mut Diagnostics) -> Option<()> {
        let mut known: Vec<(Cube, Vec<Cube>, String, Vec<&Field>)> = Vec::new();
        for mode in modes {
            let unit = Unit { width: Width::BIT, order: Order::Big };
            let span = mode.tree.picture.span;
            let picture = pictures::lay_out(Width::BIT, &mode.bits, span, unit, diagnostics)?;
            let named = |name: &str| mode.fields.iter().copied().find(|id| self.fields[id.index()].name == name);
            let (fixed, mut excluded) = conditions(self, &mode.tree.conditions, &named, &picture, diagnostics)?;
            let fixed = picture.fixed.intersection(fixed).unwrap_or(picture.fixed);
            for (taker, segments) in &picture.taken {
                let Taker::Field(id) = taker else { continue };
                let counter = self.counters.get(id).map(|counter| counter.code);
                excluded.extend(unnamed(&self.fields[id.index()], counter, segments));
            }
            let shape = mode.shape();
            let fields: Vec<&Field> = mode.fields.iter().map(|id| &self.fields[id.index()]).collect();
            for (other, (cube, others, written, kinds)) in modes.iter().zip(&known) {
                let mut effort = self.effort.get();
                let both = cube.intersection(fixed);
                let all: Vec<Cube> = others.iter().chain(&excluded).copied().collect();
                let shared = both.is_some_and(|both| !matches!(witness_within(&mut effort, both, &all), Ok(None)));
                self.effort.set(effort);
                let problem = if shared {
                    let help = "change a fixed bit of one of them, or rule the case out with `where`";
                    Some((codes::OVERLAP, "an encoding", help))
                } else if *written == shape && !told_apart(kinds, &fields) {
                    Some((codes::SAME_SYNTAX, "a syntax", "write one of them in another way, or with another field"))
                } else {
                    None
                };
                if let Some((code, what, help)) = problem {
                    let (one, two) = (&other.tree.syntax.text, &mode.tree.syntax.text);
                    let message = format!("the modes `{one}` and `{two}` share {what}");
                    let diagnostic = Diagnostic::new(code, mode.tree.span, message);
                    diagnostics.push(diagnostic.also(other.tree.span, "the other mode").help(help));
                    return None;
                }
            }
            known.push((fixed, excluded, shape, fields));
        }
        Some(())
    }
}

impl<'a> DeclaredMode<'a> {
    /// Returns the mode's texts and the places of its fields, whatever the fields are.
    fn shape(&self) -> String {
        let part = |(part, _): &(SyntaxPart, bool)| match part {
            SyntaxPart::Text(text) => format!(" {}", text.to_ascii_lowercase()),
            _ => " {}".to_owned(),
        };
        self.written.iter().map(part).collect()
    }

    /// Returns the mode's fields, as declared.
    pub(super) fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.fields.iter().copied()
    }

    /// Returns the bits of the cells that the mode adds.
    fn added(&self, width: Width) -> &[Bit] {
        &self.bits[width.bits() as usize..]
    }
}

/// A row with operands that have modes, before the modes are chosen.
pub(crate) struct Unchosen<'d, 'a> {
    draft: &'d Draft<'a>,
    /// The operands with modes, in the order of the syntax.
    operands: Vec<usize>,
    bits: Vec<Bit>,
    /// The same bits, with a place for the cells of every operand: at the end, if the row does not say.
    with_rests: Vec<Bit>,
    unit: Unit,
}

impl<'d, 'a> Unchosen<'d, 'a> {
    pub(crate) fn new(draft: &'d Draft<'a>, operands: Vec<usize>, bits: Vec<Bit>, unit: Unit) -> Self {
        let mut with_rests = bits.clone();
        for bit in &bits {
            let Bit::Taken(Taker::Operand(operand), _) = bit else { continue };
            if !with_rests.contains(&Bit::Rest(*operand)) {
                with_rests.push(Bit::Rest(*operand));
            }
        }
        Unchosen { draft, operands, bits, with_rests, unit }
    }

    /// Makes one row for each choice of modes, with or without prefixes before it.
    pub(crate) fn spread(
        &self,
        declarations: &mut Declarations<'a>,
        before: Option<&Sequence<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Draft<'a>>> {
        let span = self.draft.row.picture.span;
        let picture = pictures::lay_out(declarations.code_cell(), &self.bits, span, self.unit, diagnostics)?;
        let whole = Rc::new(Whole::new(declarations, &self.draft.written, picture));
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for operand in &self.operands {
            let modes = declarations.operands[*operand].modes.len();
            let longer =
                all.iter().flat_map(|chosen| (0..modes).map(move |mode| [chosen.as_slice(), &[mode]].concat()));
            all = longer.take(limits::INSTRUCTIONS + 1).collect();
        }
        let mut drafts = Vec::new();
        for modes in all {
            let draft = self.chosen(declarations, &modes, before, diagnostics)?;
            if !draft.excluded.contains(&Cube::default()) {
                drafts.push(Draft { whole: Some(Rc::clone(&whole)), ..draft });
            }
        }
        Some(drafts)
    }

    /// Makes the row with these modes.
    fn chosen(
        &self,
        declarations: &mut Declarations<'a>,
        modes: &[usize],
        before: Option<&Sequence<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Draft<'a>> {
        let mode = |declarations: &Declarations<'a>, operand: usize| {
            let at = self.operands.iter().position(|own| *own == operand).unwrap_or(0);
            declarations.operands[operand].modes[modes[at]].clone()
        };
        let mut chosen: Vec<ChosenMode<'a>> = Vec::new();
        for (operand, end) in self.ends(declarations, |operand| mode(declarations, operand), diagnostics)? {
            let mode = mode(declarations, operand);
            let end = end + before.map_or(0, |sequence| sequence.cells);
            let added = mode.added(declarations.operands[operand].width).len() as u32;
            let cells = end - added / declarations.code_cell().bits()..end;
            let mut fields = Vec::new();
            for id in mode.fields.iter() {
                let name = declarations.fields[id.index()].name.clone();
                let id = before.map_or(*id, |sequence| sequence.field(*id));
                fields.push((name, declarations.field_of_mode(operand, id, cells.clone(), diagnostics)?));
            }
            let meaning = match before {
                Some(sequence) => Cow::Owned(sequence.meaning(&mode.tree.meaning)),
                None => Cow::Borrowed(&mode.tree.meaning),
            };
            chosen.push(ChosenMode { operand, fields, end, mode, meaning });
        }
        chosen.sort_by_key(|one| self.operands.iter().position(|own| *own == one.operand));
        self.draft_with(declarations, chosen, diagnostics)
    }

    /// Returns where the cells of each operand end, in the order of the encoding.
    fn ends(
        &self,
        declarations: &Declarations<'a>,
        mode: impl Fn(usize) -> DeclaredMode<'a>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<(usize, u32)>> {
        let (cell, unit) = (declarations.code_cell().bits(), self.unit.width.bits() as usize);
        let mut ends = Vec::new();
        let mut count = 0;
        for bit in &self.with_rests {
            let Bit::Rest(operand) = bit else {
                count += 1;
                continue;
            };
            let mode = mode(*operand);
            let added = mode.added(declarations.operands[*operand].width).len();
            if !added.is_multiple_of(unit) {
                let bits = declarations.operands[*operand].width.bits();
                let message =
                    format!("after its {bits} bits this mode has {added} more, which do not fill words of {unit}");
                let diagnostic = Diagnostic::new(codes::RAGGED_LENGTH, mode.tree.picture.span, message);
                let help =
                    "what follows the bits of the operand are whole cells, or whole words of the table of instructions";
                diagnostics.push(diagnostic.also(self.draft.row.span, "used by this row").help(help));
                return None;
            }
            count += added;
            ends.push((*operand, count as u32 / cell));
        }
        Some(ends)
    }

    fn draft_with(
        &self,
        declarations: &Declarations<'a>,
        chosen: Vec<ChosenMode<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Draft<'a>> {
        let row = self.draft.row;
        let of = |operand: usize| chosen.iter().find(|one| one.operand == operand);
        let mut bits = Vec::new();
        for bit in self.with_rests.iter().copied() {
            match bit {
                Bit::Taken(Taker::Operand(operand), number) => {
                    let width = declarations.operands[operand].width.bits();
                    let one = of(operand)?;
                    bits.push(one.bit(one.mode.bits[(width - 1 - number.unwrap_or(0)) as usize]));
                }
                Bit::Rest(operand) => {
                    let one = of(operand)?;
                    let added = one.mode.added(declarations.operands[operand].width);
                    bits.extend(added.iter().map(|bit| one.bit(*bit)));
                }
                other => bits.push(other),
            }
        }
        let cell = declarations.code_cell();
        let picture = pictures::lay_out(cell, &bits, row.picture.span, self.unit, diagnostics)?;
        let pieces: BTreeMap<usize, Vec<(SyntaxPart, bool)>> =
            chosen.iter().map(|one| (one.operand, one.pieces())).collect();
        let written = self.draft.written.expanded(|operand| pieces.get(&operand).map_or(&[], Vec::as_slice));
        let operands = written.fields();
        if operands.len() > limits::OPERANDS {
            let message = format!("with its modes, this has {} operands", operands.len());
            let help = format!("an instruction has at most {}", limits::OPERANDS);
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, row.syntax.span, message).help(help));
            return None;
        }
        let named =
            |name: &str| self.draft.operands.iter().copied().find(|id| declarations.fields[id.index()].name == name);
        let (mut fixed, mut excluded) = conditions(declarations, &row.conditions, &named, &picture, diagnostics)?;
        for one in &chosen {
            let named = |name: &str| one.fields.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
            let (own, others) = conditions(declarations, &one.mode.tree.conditions, &named, &picture, diagnostics)?;
            match fixed.intersection(own) {
                Some(both) => fixed = both,
                // The row and the mode contradict each other.
                None => excluded.push(Cube::default()),
            }
            excluded.extend(others);
        }
        Some(Draft { written, operands, picture, fixed, excluded, modes: chosen, ..self.draft.clone() })
    }
}

impl ChosenMode<'_> {
    /// Returns the field of this instruction that corresponds to a field of the mode.
    fn field(&self, id: FieldId) -> FieldId {
        self.mode.fields.iter().zip(&self.fields).find(|(own, _)| **own == id).map_or(id, |(_, (_, field))| *field)
    }

    fn bit(&self, bit: Bit) -> Bit {
        match bit {
            Bit::Taken(Taker::Field(id), number) => Bit::Taken(Taker::Field(self.field(id)), number),
            other => other,
        }
    }

    fn pieces(&self) -> Vec<(SyntaxPart, bool)> {
        let piece = |(part, space): &(SyntaxPart, bool)| match part {
            SyntaxPart::Operand(Operand::Field(id), digits) => {
                (SyntaxPart::Operand(Operand::Field(self.field(*id)), *digits), *space)
            }
            other => (other.clone(), *space),
        };
        self.mode.written.iter().map(piece).collect()
    }
}

/// A field made for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MadeField {
    /// A field of a mode in an operand, and the offset in cells from the beginning of the instruction that it counts
    /// from, if that matters.
    OfMode(usize, FieldId, Option<u32>),
    /// A field without the program counter. The field that is only the program counter follows it.
    Split(FieldId),
}

impl<'a> Declarations<'a> {
    /// Returns the field for a field of a mode in an operand with these cells.
    fn field_of_mode(
        &mut self,
        operand: usize,
        id: FieldId,
        cells: Range<u32>,
        diagnostics: &mut Diagnostics,
    ) -> Option<FieldId> {
        let (origin, at) = self.origin(id, cells);
        let counts = counting(&self.fields[id.index()].domain, origin, at).is_some();
        self.make_field(MadeField::OfMode(operand, id, counts.then_some(at)), diagnostics)
    }

    /// Returns what a field of a mode counts from as declared, and how many cells after the beginning of the
    /// instruction that is in an operand with these cells.
    fn origin(&self, id: FieldId, cells: Range<u32>) -> (Base, u32) {
        if self.from_here.contains(&id) { (Base::Pc, cells.start) } else { (Base::Next, cells.end) }
    }

    /// Makes a field for rows, or returns the one already made for the same purpose.
    pub(crate) fn make_field(&mut self, field: MadeField, diagnostics: &mut Diagnostics) -> Option<FieldId> {
        let id = match (self.fields_for_rows.get(&field), field) {
            (Some(known), _) => *known,
            (None, MadeField::OfMode(operand, id, at)) => self.make_field_of_mode(operand, id, at, diagnostics)?,
            (None, MadeField::Split(id)) => self.split(id)?,
        };
        self.fields_for_rows.insert(field, id);
        if let Some(noted) = &mut self.made_fields
            && !noted.contains(&(field, id))
        {
            noted.push((field, id));
        }
        Some(id)
    }

    fn make_field_of_mode(
        &mut self,
        operand: usize,
        id: FieldId,
        at: Option<u32>,
        diagnostics: &mut Diagnostics,
    ) -> Option<FieldId> {
        let field = &self.fields[id.index()];
        let counting = at.and_then(|at| counting(&field.domain, self.origin(id, at..at).0, at));
        let domain = counting.map_or_else(|| field.domain.clone(), Domain::Number);
        if self.too_many_names(&domain) {
            let message = format!("the fields have more than {} names together", limits::FIELD_NAMES);
            let help = "use fewer operands whose modes have long lists of registers";
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, self.operands[operand].name.span, message).help(help));
            return None;
        }
        let mut name = format!("{}_{}", self.operands[operand].name.text, field.name);
        while self.names.peek(&name).is_some() {
            name.push('_');
        }
        let field = Field { name, domain, ..field.clone() };
        let made = self.add_field(field);
        if let Some(counter) = self.counters.get(&id).cloned() {
            self.counters.insert(made, counter);
        }
        Some(made)
    }

    fn add_field(&mut self, field: Field) -> FieldId {
        self.fields.to_mut().push(field);
        FieldId(self.fields.len() as u32 - 1)
    }

    /// Makes the field without the program counter and, directly after it, the field that is only the program counter.
    fn split(&mut self, id: FieldId) -> Option<FieldId> {
        let counter = self.counters.get(&id)?;
        let field = self.fields[id.index()].clone();
        let (own, others): (Vec<_>, Vec<_>) =
            field.spellings.iter().cloned().partition(|(_, code)| *code == counter.code);
        let spellings = own.into_iter().filter(|(name, _)| *name != counter.name).collect();
        let domain = Domain::Names(vec![(counter.name.clone(), counter.code)]);
        let without = self.add_field(Field { spellings: others, ..field.clone() });
        self.add_field(Field { domain, spellings, ..field });
        Some(without)
    }

    /// Splits a row by whether each operand is the program counter or another register.
    pub(crate) fn with_counters(&mut self, mut draft: Draft<'a>) -> Vec<Draft<'a>> {
        if draft.whole.is_none() && draft.operands.iter().any(|id| self.counters.contains_key(id)) {
            draft.whole = Some(Rc::new(Whole::new(self, &draft.written, draft.picture.clone())));
        }
        let mut drafts = vec![draft];
        for at in 0..drafts[0].operands.len() {
            let id = drafts[0].operands[at];
            let Some(counter) = self.counters.get(&id).cloned() else { continue };
            let Some(without) = self.make_field(MadeField::Split(id), &mut Diagnostics::default()) else { continue };
            let only = FieldId(without.0 + 1);
            drafts = drafts
                .into_iter()
                .flat_map(|draft| [draft.with_field(id, without, None), draft.with_field(id, only, Some(&counter))])
                .collect();
        }
        drafts.retain(|draft| draft.counters.is_empty() || draft.is_possible(self));
        drafts
    }
}

impl<'a> Draft<'a> {
    /// Returns the row with one field replaced by another, which may be the program counter.
    fn with_field(&self, old: FieldId, new: FieldId, counter: Option<&Counter<'a>>) -> Draft<'a> {
        let other = |id: FieldId| if id == old { new } else { id };
        let mut draft = self.clone();
        draft.written = self.written.with_fields(&BTreeMap::from([(old, new)]));
        draft.operands.iter_mut().for_each(|id| *id = other(*id));
        draft.modes.iter_mut().flat_map(|one| &mut one.fields).for_each(|(_, id)| *id = other(*id));
        if let Some(segments) = draft.picture.taken.remove(&Taker::Field(old)) {
            if let Some(counter) = counter {
                let code = Cube { mask: scatter(&segments, u64::MAX), value: scatter(&segments, counter.code) };
                match draft.fixed.intersection(code) {
                    Some(both) => draft.fixed = both,
                    None => draft.excluded.push(Cube::default()),
                }
                draft.counters.push((new, counter.clone()));
            }
            draft.picture.taken.insert(Taker::Field(new), segments);
        }
        draft
    }

    /// Whether the conditions leave any encoding.
    fn is_possible(&self, declarations: &Declarations) -> bool {
        let Some(fixed) = self.picture.fixed.intersection(self.fixed) else { return false };
        let mut effort = declarations.effort.get();
        let left = witness_within(&mut effort, fixed, &self.excluded);
        declarations.effort.set(effort);
        left != Ok(None)
    }
}

/// Makes a number that counts from `origin` count from a place `cells` after the beginning of the instruction instead;
/// `None` if it does not count from `origin`.
fn counting(domain: &Domain, origin: Base, cells: u32) -> Option<Numeric> {
    let Domain::Number(numeric) = domain else { return None };
    let mut numeric = *numeric;
    match &mut numeric.target {
        Some(Target::Relative { from: base, .. } | Target::Within(base)) if *base == origin => {
            *base = Base::Ahead(cells);
        }
        _ => return None,
    }
    Some(numeric)
}
