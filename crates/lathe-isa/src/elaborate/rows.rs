//! Rows: turns syntax, picture and meaning into instructions, and checks what must hold between them.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::{constant, constant_in, declared, plural, width};
use super::known::{Before, KnownRow, Noted, Recall};
use super::lengths::Lengths;
use super::meaning::{self, Around, Setting};
use super::modes::{self, Counter, Unchosen, Whole};
use super::pictures::{self, Bit, Picture, Taker, Unit};
use super::prefixes::{Plain, Sequence};
use super::syntaxes::{self, Inline, WrittenSyntax};
use crate::codes;
use crate::encoding::{Cube, Encoding, Segment, TooComplex, cells, scatter, witness_within};
use crate::language::ast::{self, Binary, ExprKind, Item, Order};
use crate::model::{Chosen, Domain, Field, FieldId, Form, Group, Instruction, Register};
use crate::names::Named;
use crate::semantics::Body;
use crate::syntax::Syntax;

/// A row whose syntax and encoding have been understood, with its modes chosen.
#[derive(Clone)]
pub(crate) struct Draft<'a> {
    pub(super) row: &'a ast::Row,
    /// The row's number, among all rows as written.
    pub(super) number: u32,
    pub(super) written: WrittenSyntax,
    pub(super) operands: Vec<FieldId>,
    pub(super) families: Vec<usize>,
    pub(super) picture: Picture,
    /// The heading above it.
    pub(super) group: Option<usize>,
    /// From `where`.
    pub(super) fixed: Cube,
    pub(super) excluded: Vec<Cube>,
    /// The row's meaning, with its registers renamed if a prefix precedes it.
    pub(super) meaning: Cow<'a, ast::Block>,
    /// The effects of its prefixes.
    pub(super) prefixes: Vec<&'a ast::Block>,
    /// Its operands with modes, in the order of the syntax.
    pub(super) modes: Vec<modes::ChosenMode<'a>>,
    /// The row before modes were chosen.
    pub(super) whole: Option<Rc<Whole>>,
    /// The fields that are the program counter.
    pub(super) counters: Vec<(FieldId, Counter<'a>)>,
}

/// A row, as far as it is understood without its meaning.
pub(crate) struct DraftedRow<'a> {
    row: &'a ast::Row,
    /// The row's number, among all rows as written.
    number: u32,
    /// The heading above it.
    group: Option<usize>,
    /// One draft for each choice of its modes and prefixes; none if the row is known.
    pub(super) drafts: Vec<Draft<'a>>,
    known: Option<Rc<KnownRow>>,
    /// Notes for the next time.
    noted: Cell<Option<Noted>>,
}

/// Reads all rows, as far as they can be understood without their meanings, and their headings.
pub(crate) fn drafts<'a>(
    declarations: &mut Declarations<'a>,
    definition: &'a ast::Definition,
    recall: &mut Recall,
    diagnostics: &mut Diagnostics,
) -> (Vec<DraftedRow<'a>>, Vec<Group>) {
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    let (mut number, mut choices) = (0, 0);
    for item in &definition.items {
        let Item::Instructions(block) = item else { continue };
        let Some(unit) = unit(declarations, block, diagnostics) else {
            declarations.rows_lost.set(true);
            continue;
        };
        for word in &block.commented {
            if let Some(Named::Field(_) | Named::Family(_) | Named::Operand(_)) = declarations.names.peek(&word.text) {
                let message = format!("`#{}` begins a comment, so this is not a row", word.text);
                let help = "begin the row with a word, or put a space after `#` if it is a comment";
                diagnostics.push(Diagnostic::new(codes::ROW_AS_COMMENT, word.span, message).help(help));
            }
        }
        let table = declarations.text(block.head.file).get(block.head.range()).unwrap_or("");
        // The text before a block is its first heading.
        let mut heading = (!block.documentation.is_empty()).then_some(&block.documentation);
        let mut group = None;
        for row in &block.rows {
            heading = (!row.heading.is_empty()).then_some(&row.heading).or(heading);
            if let Some(heading) = heading.take() {
                group = Some(groups.len());
                groups.push(Group { heading: heading.clone(), span: row.span });
            }
            number += 1;
            let known = recall.row(declarations, row, table);
            let before = if known.is_none() { recall.begin(declarations, diagnostics) } else { None };
            let mut drafts = Vec::new();
            if known.is_none() {
                match spread(declarations, row, unit, block.after.as_ref(), diagnostics) {
                    Some(all) => all.into_iter().for_each(|draft| {
                        // More would only take time: there are too many already, as will be reported.
                        if choices + drafts.len() <= limits::INSTRUCTIONS {
                            let draft = Draft { group, number: number - 1, ..draft };
                            drafts.extend(declarations.with_counters(draft));
                        }
                    }),
                    None => declarations.rows_lost.set(true),
                }
            }
            let noted = before.and_then(|before| Recall::noted(declarations, before, row, table, diagnostics));
            choices += known.as_ref().map_or(drafts.len(), |known| known.choices);
            rows.push(DraftedRow { row, number: number - 1, group, drafts, known, noted: Cell::new(noted) });
            if choices > limits::INSTRUCTIONS {
                return (rows, groups);
            }
        }
    }
    (rows, groups)
}

/// Makes a row's drafts: one for each choice of its modes and prefixes.
fn spread<'a>(
    declarations: &mut Declarations<'a>,
    row: &'a ast::Row,
    unit: Unit,
    after: Option<&ast::After>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Draft<'a>>> {
    let (draft, unchosen) = draft(declarations, row, unit, diagnostics)?;
    let unchosen = unchosen.map(|(operands, bits)| Unchosen::new(&draft, operands, bits, unit));
    let chosen = |declarations: &mut Declarations<'a>, before: Option<&Sequence<'a>>, diagnostics: &mut Diagnostics| {
        match &unchosen {
            Some(unchosen) => unchosen.spread(declarations, before, diagnostics),
            None => Some(vec![draft.clone()]),
        }
    };
    let mut all =
        if after.is_none_or(|after| !after.only) { chosen(declarations, None, diagnostics)? } else { Vec::new() };
    let sequences = after.iter().flat_map(|after| after.sequences.iter().map(move |names| (after, names)));
    for (after, names) in sequences {
        let Some(sequence) = declarations.sequence_of(names) else {
            declarations.rows_lost.set(true);
            continue;
        };
        let drafts = chosen(declarations, Some(&sequence), diagnostics)?;
        match sequence.applied(declarations, &drafts, Plain::of(after), diagnostics) {
            Some(drafts) => all.extend(drafts),
            None => declarations.rows_lost.set(true),
        }
    }
    Some(all)
}

fn unit(declarations: &Declarations, block: &ast::Instructions, diagnostics: &mut Diagnostics) -> Option<Unit> {
    let cell = declarations.code_cell();
    let Some((ty, order)) = &block.unit else { return Some(Unit { width: cell, order: Order::Big }) };
    let width = width(ty, &declarations.names, diagnostics)?;
    if width.bits() % cell.bits() != 0 {
        let message = format!("{} bits are not a whole number of {}-bit cells", width.bits(), cell.bits());
        diagnostics
            .push(Diagnostic::new(codes::RAGGED_LENGTH, ty.span, message).help("as in `instructions as u32 little`"));
        return None;
    }
    Some(Unit { width, order: order.unwrap_or(Order::Big) })
}

/// The operands with modes of a row, and its bits as written.
type Open = (Vec<usize>, Vec<Bit>);

/// Reads a row as written. If it has operands with modes, its encoding is not known yet.
fn draft<'a>(
    declarations: &Declarations<'a>,
    row: &'a ast::Row,
    unit: Unit,
    diagnostics: &mut Diagnostics,
) -> Option<(Draft<'a>, Option<Open>)> {
    let written = syntaxes::read(declarations, &row.syntax, Inline::Refused, diagnostics);
    let bits = pictures::read_bits(declarations, &row.picture, unit, diagnostics);
    let (written, bits) = (written?, bits?);
    let (operands, families, modes) = (written.fields(), written.families(), written.modes());
    // If operands have modes, the encoding is not known before these are chosen.
    let conditions: &[ast::Expr] = if modes.is_empty() { &row.conditions } else { &[] };
    check_takers(declarations, row, &written, &bits, conditions, diagnostics)?;
    let meaning = Cow::Borrowed(&row.meaning);
    let mut draft = Draft {
        row,
        number: 0,
        written,
        operands,
        families,
        picture: Picture::default(),
        group: None,
        fixed: Cube::default(),
        excluded: vec![],
        meaning,
        prefixes: vec![],
        modes: vec![],
        whole: None,
        counters: vec![],
    };
    if !modes.is_empty() {
        return modes
            .iter()
            .all(|at| !declarations.operands[*at].modes.is_empty())
            .then_some((draft, Some((modes, bits))));
    }
    if let Some(id) = draft.operands.iter().find(|id| declarations.from_here.contains(id)) {
        let name = &declarations.fields[id.index()].name;
        let message = format!("`{name}` counts from `here`, which only a mode of an operand has");
        let help = "count from `next` or from `pc`";
        diagnostics.push(Diagnostic::new(codes::NOT_HERE, row.syntax.span, message).help(help));
        return None;
    }
    draft.picture = pictures::lay_out(declarations.code_cell(), &bits, row.picture.span, unit, diagnostics)?;
    let named = |name: &str| draft.operands.iter().copied().find(|id| declarations.fields[id.index()].name == name);
    say_operands(declarations, &row.conditions, &named, &mut draft.picture, diagnostics)?;
    (draft.fixed, draft.excluded) =
        self::conditions(declarations, &row.conditions, &named, &draft.picture, diagnostics)?;
    Some((draft, None))
}

/// Splits a condition such as `S == D` or `S == sp` into the operand that it determines, and its value.
fn said(condition: &ast::Expr) -> Option<(&str, &ast::Expr)> {
    let ExprKind::Binary(Binary::Equal, left, right) = &condition.kind else { return None };
    if let ExprKind::Name(name) = &left.kind { Some((name, right)) } else { None }
}

/// Gives the operands that are not in the encoding what the conditions determine: the bits of another operand, or a
/// constant.
fn say_operands(
    declarations: &Declarations,
    conditions: &[ast::Expr],
    operand: &dyn Fn(&str) -> Option<FieldId>,
    picture: &mut Picture,
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    for (name, value) in conditions.iter().filter_map(said) {
        let Some(id) = operand(name).filter(|id| !picture.taken.contains_key(&Taker::Field(*id))) else { continue };
        let other = if let ExprKind::Name(other) = &value.kind { operand(other) } else { None };
        let segments = match other {
            Some(other) => {
                let (one, two) = (&declarations.fields[id.index()], &declarations.fields[other.index()]);
                let known = picture.taken.get(&Taker::Field(other)).filter(|_| one.domain == two.domain);
                let Some(segments) = known.filter(|segments| !segments.is_empty()) else {
                    let message = format!("`{name}` cannot be the same as `{}`", two.name);
                    let help = format!("`{}` must be in the encoding, and both of the same kind", two.name);
                    diagnostics.push(Diagnostic::new(codes::BAD_CONDITION, value.span, message).help(help));
                    return None;
                };
                segments.clone()
            }
            None => {
                let bits = constant_of(declarations, id, value, diagnostics)?;
                picture.constants.insert(id, bits);
                Vec::new()
            }
        };
        picture.taken.insert(Taker::Field(id), segments);
    }
    Some(())
}

/// Checks that what is in the syntax is in the encoding, unless a condition determines it, and vice versa.
fn check_takers(
    declarations: &Declarations,
    row: &ast::Row,
    written: &WrittenSyntax,
    bits: &[Bit],
    conditions: &[ast::Expr],
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let families = written.families().into_iter().map(Taker::Family);
    let in_syntax: Vec<Taker> = written.takers().into_iter().chain(families).collect();
    let taken: BTreeSet<Taker> =
        bits.iter().filter_map(|bit| if let Bit::Taken(taker, _) = bit { Some(*taker) } else { None }).collect();
    let name = |taker: Taker| match taker {
        Taker::Field(id) => declarations.fields[id.index()].name.clone(),
        Taker::Family(at) => declarations.families[at].tree.name.text.clone(),
        Taker::Operand(at) => declarations.operands[at].name.text.clone(),
    };
    let is_said = |taker: &Taker| {
        let mut names = conditions.iter().filter_map(said).map(|(name, _)| name);
        matches!(taker, Taker::Field(_)) && names.any(|known| known == name(*taker))
    };
    if let Some(lost) = in_syntax.iter().find(|taker| !taken.contains(taker) && !is_said(taker)) {
        let message = format!("`{}` is in the syntax but not in the encoding", name(*lost));
        let help = format!("add its bits to the encoding, as in `{{{}}}`, or remove it from the syntax", name(*lost));
        let diagnostic = Diagnostic::new(codes::OPERAND_LOST, row.picture.span, message);
        diagnostics.push(diagnostic.also(row.syntax.span, "the syntax").help(help));
        return None;
    }
    if let Some(lost) = taken.iter().find(|taker| !in_syntax.contains(taker)) {
        if row.syntax.text.split_whitespace().next() == Some(&name(*lost)) {
            let message = format!("`{}` is an operand, but the first word of a row is its mnemonic", name(*lost));
            let has_words = matches!(lost, Taker::Field(id) if declarations.fields[id.index()].has_words());
            let help = match has_words {
                true => format!("write `{{{}}}` if its words are the instruction", name(*lost)),
                false => format!("begin with a name for the instruction, as in `move {}`", row.syntax.text.trim()),
            };
            diagnostics.push(Diagnostic::new(codes::OPERAND_LOST, row.syntax.span, message).help(help));
            return None;
        }
        let message = format!("`{}` is in the encoding but not in the syntax", name(*lost));
        let help = "add it to the syntax, or write `-` for bits that do not matter";
        let diagnostic = Diagnostic::new(codes::OPERAND_LOST, row.syntax.span, message);
        diagnostics.push(diagnostic.also(row.picture.span, "the encoding").help(help));
        return None;
    }
    Some(())
}

/// Works out what `where` fixes and what it excludes; `operand` finds the operands that it may name.
pub(crate) fn conditions(
    declarations: &Declarations,
    conditions: &[ast::Expr],
    operand: &dyn Fn(&str) -> Option<FieldId>,
    picture: &Picture,
    diagnostics: &mut Diagnostics,
) -> Option<(Cube, Vec<Cube>)> {
    let (mut fixed, mut excluded) = (Cube::default(), Vec::new());
    for tree in conditions {
        if let Some((operator, one, other)) = two_operands(tree, operand) {
            excluded.extend(compared(declarations, tree, operator, [one, other], picture, diagnostics)?);
            continue;
        }
        let (operator, cube) = condition(declarations, tree, operand, picture, diagnostics)?;
        match operator {
            Binary::Unequal => excluded.push(cube),
            _ => match fixed.intersection(cube) {
                Some(both) => fixed = both,
                None => excluded.push(Cube::default()),
            },
        }
    }
    Some((fixed, excluded))
}

/// Splits a comparison of two operands, such as `A != B`.
fn two_operands(
    condition: &ast::Expr,
    operand: &dyn Fn(&str) -> Option<FieldId>,
) -> Option<(Binary, FieldId, FieldId)> {
    let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
    let (ExprKind::Name(one), ExprKind::Name(other)) = (&left.kind, &right.kind) else { return None };
    Some((*operator, operand(one)?, operand(other)?))
}

/// Works out what a comparison of two operands excludes.
fn compared(
    declarations: &Declarations,
    condition: &ast::Expr,
    operator: Binary,
    operands: [FieldId; 2],
    picture: &Picture,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Cube>> {
    let [one, other] = operands.map(|id| &declarations.fields[id.index()]);
    let segments = operands.map(|id| &picture.taken[&Taker::Field(id)]);
    let codes = 1u64.checked_shl(one.width.bits()).unwrap_or(u64::MAX);
    if one.domain != other.domain || one.width != other.width || codes > limits::CONDITIONS as u64 {
        let message = format!("`{}` and `{}` cannot be compared in a condition", one.name, other.name);
        let help = format!(
            "two operands of the same kind can, if they have at most {} bits; or decide in the meaning: `if …`",
            limits::CONDITIONS.ilog2()
        );
        diagnostics.push(Diagnostic::new(codes::BAD_CONDITION, condition.span, message).help(help));
        return None;
    }
    if segments[0] == segments[1] {
        return Some(if operator == Binary::Equal { Vec::new() } else { vec![Cube::default()] });
    }
    let cube = |mask: u64, values: [u64; 2]| Cube {
        mask: scatter(segments[0], mask) | scatter(segments[1], mask),
        value: scatter(segments[0], values[0]) | scatter(segments[1], values[1]),
    };
    let bits = (0..one.width.bits()).map(|bit| 1 << bit);
    Some(match operator {
        Binary::Equal => bits.flat_map(|bit| [cube(bit, [bit, 0]), cube(bit, [0, bit])]).collect(),
        _ => (0..codes).map(|code| cube(u64::MAX, [code, code])).collect(),
    })
}

/// Reads a comparison with a constant: `A != r0` or `A == 3`.
fn condition(
    declarations: &Declarations,
    condition: &ast::Expr,
    operand: &dyn Fn(&str) -> Option<FieldId>,
    picture: &Picture,
    diagnostics: &mut Diagnostics,
) -> Option<(Binary, Cube)> {
    let help = "a condition compares an operand of this row with a constant, as in `where A != r0`";
    let bad = |span: Span, message: &str| Diagnostic::new(codes::BAD_CONDITION, span, message).help(help);
    let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
    let ExprKind::Name(name) = &left.kind else {
        diagnostics.push(bad(left.span, "this is not an operand"));
        return None;
    };
    if let Some(Named::Family(_)) = declarations.names.peek(name) {
        let message = format!("`{name}` is a family, and a condition is about a field");
        let help = "make a second family without that member, and a row for it";
        diagnostics.push(Diagnostic::new(codes::BAD_CONDITION, left.span, message).help(help));
        return None;
    }
    if let (None, Some((mode, shift))) = (operand(name), mode(declarations, left)) {
        let mut bits = constant_in(mode.width, right, &declarations.names, diagnostics)?;
        if *operator == Binary::Unequal && mode.width != Width::BIT {
            let message = format!("`{name}` has more than two values, and encodings are told apart by one of them");
            let help = format!("write a row for each of the others, with `{name} == …`");
            diagnostics.push(Diagnostic::new(codes::BAD_CONDITION, condition.span, message).help(help));
            return None;
        }
        bits ^= u64::from(*operator == Binary::Unequal);
        let cube = Cube { mask: u128::from(mode.width.mask()) << shift, value: u128::from(bits) << shift };
        return Some((Binary::Equal, cube));
    }
    let Some(id) = operand(name) else {
        let mut diagnostic = bad(left.span, &format!("`{name}` is not an operand of this row"));
        if let Some(Named::Register(id)) = declarations.names.peek(name) {
            let width = declarations.registers[id.index()].width;
            diagnostic = diagnostic
                .help(format!("a register that decides about encodings is declared as `mode {name} : {width}`"));
        }
        diagnostics.push(diagnostic);
        return None;
    };
    let bits = constant_of(declarations, id, right, diagnostics)?;
    let segments = &picture.taken[&Taker::Field(id)];
    Some((*operator, Cube { mask: scatter(segments, u64::MAX), value: scatter(segments, bits) }))
}

/// Finds the mode that a condition is about, and where its bits are.
fn mode<'d>(declarations: &'d Declarations, left: &ast::Expr) -> Option<(&'d Register, u32)> {
    let ExprKind::Name(name) = &left.kind else { return None };
    let Some(Named::Register(id)) = declarations.names.peek(name) else { return None };
    let register = &declarations.registers[id.index()];
    Some((register, register.mode?))
}

/// Evaluates what a condition compares an operand with, as the operand's bits.
fn constant_of(
    declarations: &Declarations,
    id: FieldId,
    right: &ast::Expr,
    diagnostics: &mut Diagnostics,
) -> Option<u64> {
    let field = &declarations.fields[id.index()];
    let name = &field.name;
    let help = "a condition compares an operand of this row with a constant, as in `where A != r0`";
    let bad = |span: Span, message: &str| Diagnostic::new(codes::BAD_CONDITION, span, message).help(help);
    let bits = match &right.kind {
        ExprKind::Name(value) if field.bits_named(value).is_some() => field.bits_named(value)?,
        ExprKind::Name(value) if constant(right, &|name, span| declared(&declarations.names, name, span)).is_none() => {
            diagnostics.push(bad(right.span, &format!("`{name}` is never `{value}`")));
            return None;
        }
        _ => match &field.domain {
            Domain::Values(values) => {
                let bits = constant_in(values.width, right, &declarations.names, diagnostics)?;
                let number = if values.signed { i128::from(values.width.signed(bits)) } else { i128::from(bits) };
                let Some(code) = values.code(number) else {
                    diagnostics.push(bad(right.span, &format!("`{name}` is never {number}")));
                    return None;
                };
                code
            }
            _ => constant_in(field.width, right, &declarations.names, diagnostics)?,
        },
    };
    let is_counter = declarations.counters.get(&id).is_some_and(|counter| counter.code == bits);
    if !(field.admits(bits) || is_counter) || bits & ((1 << field.unstored_bits()) - 1) != 0 {
        diagnostics.push(bad(right.span, &format!("`{name}` is never {bits}")));
        return None;
    }
    Some(bits)
}

impl Draft<'_> {
    pub(super) fn encoding(&self, declarations: &Declarations, chosen: &[Chosen]) -> Encoding {
        let fixed = self.picture.fixed.intersection(self.fixed).unwrap_or(self.picture.fixed);
        let fixed = with_members(declarations, &self.picture, fixed, chosen);
        let segments: Vec<Vec<Segment>> =
            self.operands.iter().map(|id| self.picture.taken[&Taker::Field(*id)].clone()).collect();
        let mut excluded = self.excluded.clone();
        // A condition determines any operand without bits.
        for (id, segments) in self.operands.iter().zip(&segments).filter(|(_, segments)| !segments.is_empty()) {
            let cubes = unnamed(&declarations.fields[id.index()], None, segments);
            excluded.extend(cubes.into_iter().filter(|cube| cube.intersection(fixed).is_some()));
        }
        let constants = self.operands.iter().map(|id| self.picture.constants.get(id).copied().unwrap_or(0)).collect();
        let (cells, ignored) = (self.picture.cells, self.picture.ignored);
        Encoding { cells, fixed, excluded, ignored, operands: segments, constants }
    }
}

/// Adds the bits of the members of its families to the fixed bits of a picture.
pub(crate) fn with_members(declarations: &Declarations, picture: &Picture, mut fixed: Cube, chosen: &[Chosen]) -> Cube {
    for Chosen { family, member } in chosen {
        let segments = &picture.taken[&Taker::Family(*family)];
        fixed.mask |= scatter(segments, u64::MAX);
        fixed.value |= scatter(segments, declarations.families[*family].codes[*member]);
    }
    fixed
}

/// Returns the codes of a field that mean nothing, as sets of windows; `counter` is the code of the program counter, if
/// it is one of the registers.
pub(crate) fn unnamed(field: &Field, counter: Option<u64>, segments: &[Segment]) -> Vec<Cube> {
    let codes: Vec<u64> = match &field.domain {
        Domain::Number(_) => return Vec::new(),
        Domain::Registers(list) => {
            (0..list.len() as u64).filter(|code| field.admits(*code) || counter == Some(*code)).collect()
        }
        Domain::Names(list) => list.iter().map(|(_, code)| *code).collect(),
        Domain::Values(values) => values.numbers().map(|(code, _)| code).collect(),
    };
    let mut cubes = Vec::new();
    gaps(&codes, field.width.bits(), 0, 0, &mut |mask, value| {
        cubes.push(Cube { mask: scatter(segments, mask), value: scatter(segments, value) });
    });
    cubes
}

/// Calls `found` for the largest blocks of codes, by their leading bits, that contain none of `codes`.
fn gaps(codes: &[u64], bits: u32, mask: u64, value: u64, found: &mut impl FnMut(u64, u64)) {
    let inside: Vec<u64> = codes.iter().copied().filter(|code| code & mask == value).collect();
    if inside.is_empty() {
        return found(mask, value);
    }
    if bits == 0 || inside.len() as u64 == 1u64.checked_shl(bits).unwrap_or(u64::MAX) {
        return;
    }
    let bit = 1 << (bits - 1);
    gaps(&inside, bits - 1, mask | bit, value, found);
    gaps(&inside, bits - 1, mask | bit, value | bit, found);
}

/// Makes the instructions of all rows: expands families and lowers meanings.
pub(crate) fn instructions(
    declarations: &Declarations,
    rows: &[DraftedRow],
    around: &Around,
    recall: &mut Recall,
    diagnostics: &mut Diagnostics,
) -> Vec<Instruction> {
    let lengths = Lengths::new(declarations, rows);
    let mut instructions = Vec::new();
    for row in rows {
        let made = match &row.known {
            Some(known) => row.known_instructions(declarations, known, &mut instructions, diagnostics),
            None => row.new_instructions(declarations, around, &lengths, recall, &mut instructions, diagnostics),
        };
        if made.is_none() {
            break;
        }
    }
    instructions
}

/// Checks that there is room for another instruction of a row, and reports it if there is none.
fn room(
    declarations: &Declarations,
    row: &ast::Row,
    instructions: &[Instruction],
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let (message, help) = if instructions.len() >= limits::INSTRUCTIONS {
        let message = format!("this definition has more than {} instructions", limits::INSTRUCTIONS);
        (message, "use fewer families or operands with modes in one row, or fewer rows")
    } else if declarations.nodes.get() > limits::TOTAL_NODES {
        let message = format!("the meanings have more than {} parts together", limits::TOTAL_NODES);
        (message, "make the meanings shorter, or write fewer rows")
    } else {
        return Some(());
    };
    diagnostics.push(Diagnostic::new(codes::TOO_MANY, row.span, message).help(help));
    None
}

impl DraftedRow<'_> {
    /// Adds the instructions of a known row; `None` if there is no room for all.
    fn known_instructions(
        &self,
        declarations: &Declarations,
        known: &KnownRow,
        instructions: &mut Vec<Instruction>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        for (instruction, parts) in &known.instructions {
            room(declarations, self.row, instructions, diagnostics)?;
            let (row, group, span) = (self.number, self.group, self.row.span);
            let documentation = self.row.documentation.clone();
            instructions.push(Instruction { documentation, row, group, span, ..instruction.clone() });
            declarations.nodes.set(declarations.nodes.get() + parts);
        }
        Some(())
    }

    /// Elaborates the row's instructions and adds them; `None` if there is no room for all.
    fn new_instructions(
        &self,
        declarations: &Declarations,
        around: &Around,
        lengths: &Lengths,
        recall: &mut Recall,
        instructions: &mut Vec<Instruction>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        let noted = self.noted.take();
        let before = noted.is_some().then(|| Before::now(declarations, diagnostics));
        let first = instructions.len();
        let made = self.work_out(declarations, around, lengths, instructions, diagnostics);
        let taken = before.and_then(|before| before.end(declarations, diagnostics));
        let (parts, is_sound) = made?;
        if let Some((noted, taken)) = noted.zip(taken).filter(|_| is_sound) {
            // What depends on the position of the row is not kept.
            let known = |one: &Instruction| Instruction { documentation: String::new(), ..one.clone() };
            let known = instructions[first..].iter().map(known).zip(parts).collect();
            recall.keep(noted, self.drafts.len(), known, taken);
        }
        Some(())
    }

    /// Elaborates and adds the instructions; returns how many parts the meaning of each had on the way, and whether all
    /// could be understood.
    fn work_out(
        &self,
        declarations: &Declarations,
        around: &Around,
        lengths: &Lengths,
        instructions: &mut Vec<Instruction>,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Vec<usize>, bool)> {
        let mut forms: Vec<(Rc<Whole>, Vec<Chosen>, Arc<Form>)> = Vec::new();
        let (mut parts, mut is_sound) = (Vec::new(), true);
        for draft in &self.drafts {
            for chosen in combinations(declarations, &draft.families) {
                room(declarations, self.row, instructions, diagnostics)?;
                let form = draft.whole.as_ref().map(|whole| {
                    let known = forms.iter().find(|(of, members, _)| Rc::ptr_eq(of, whole) && *members == chosen);
                    known.map(|(_, _, form)| Arc::clone(form)).unwrap_or_else(|| {
                        let form = Arc::new(whole.form(declarations, &chosen));
                        forms.push((Rc::clone(whole), chosen.clone(), Arc::clone(&form)));
                        form
                    })
                });
                let before = declarations.nodes.get();
                let cycles = match &self.row.cycles {
                    Some(cycles) => constant_in(Width::MAX, cycles, &declarations.names, diagnostics),
                    None => Some(0),
                };
                let setting = Setting::row(draft, chosen.clone(), lengths);
                let body = meaning::perform_row(declarations, setting, around, draft, cycles.unwrap_or(0), diagnostics);
                is_sound &= cycles.is_some() && body.is_some();
                let instruction = instruction(declarations, draft, chosen, body.map(Arc::new), diagnostics);
                let instruction = Instruction { form, cycles: cycles.unwrap_or(0), ..instruction };
                let excluded = instruction.encoding.excluded.len();
                declarations.nodes.set(declarations.nodes.get() + excluded);
                parts.push(declarations.nodes.get() - before);
                instructions.push(instruction);
            }
        }
        Some((parts, is_sound))
    }
}

fn instruction(
    declarations: &Declarations,
    draft: &Draft,
    chosen: Vec<Chosen>,
    body: Option<Arc<Body>>,
    diagnostics: &mut Diagnostics,
) -> Instruction {
    let encoding = draft.encoding(declarations, &chosen);
    let mut effort = declarations.effort.get();
    let left = witness_within(&mut effort, encoding.fixed, &encoding.excluded);
    declarations.effort.set(effort);
    if left == Ok(None) {
        let message = format!("no encoding is left for `{}`", draft.row.syntax.text);
        let help = "its conditions exclude every encoding; change them or remove the row";
        diagnostics.push(Diagnostic::new(codes::UNREACHABLE, draft.row.picture.span, message).help(help));
    }
    Instruction {
        syntax: draft.written.syntax(|family| member(declarations, &chosen, family)),
        operands: draft.operands.clone(),
        encoding,
        broken: body.is_none(),
        body: body.unwrap_or_default(),
        cycles: 0,
        documentation: draft.row.documentation.clone(),
        row: draft.number,
        chosen,
        form: None,
        group: draft.group,
        span: draft.row.span,
    }
}

/// Returns the name of the member chosen from a family.
pub(crate) fn member(declarations: &Declarations, chosen: &[Chosen], family: usize) -> String {
    let found = chosen.iter().find(|chosen| chosen.family == family);
    found.map_or(String::new(), |chosen| declarations.families[family].tree.members[chosen.member].name.text.clone())
}

/// Returns every choice of one member from each family.
pub(crate) fn combinations(declarations: &Declarations, families: &[usize]) -> Vec<Vec<Chosen>> {
    let mut all = vec![Vec::new()];
    for family in families {
        let members = 0..declarations.families[*family].tree.members.len();
        let extended = all.iter().flat_map(|chosen: &Vec<Chosen>| {
            members.clone().map(|member| {
                let mut chosen = chosen.clone();
                chosen.push(Chosen { family: *family, member });
                chosen
            })
        });
        all = extended.take(limits::INSTRUCTIONS + 1).collect();
    }
    all
}

/// Fewer instructions than this are compared pairwise, without looking for bits that tell them apart.
const SMALL_BUCKET: usize = 8;

/// Checks that no encoding belongs to two rows.
pub(crate) fn check_disjoint(declarations: &Declarations, instructions: &[Instruction], diagnostics: &mut Diagnostics) {
    let mut effort = declarations.effort.get();
    let mut reported = BTreeSet::new();
    let buckets = buckets(instructions);
    let mut before: Vec<Vec<(Cube, &Instruction)>> = vec![Vec::new(); buckets.iter().max().map_or(0, |last| last + 1)];
    for (other, bucket) in instructions.iter().zip(buckets) {
        let bits = other.encoding.fixed;
        let alike = &mut before[bucket];
        for (fixed, one) in &*alike {
            let Some(both) = fixed.intersection(bits) else { continue };
            if reported.contains(&(one.row, other.row)) {
                continue;
            }
            let excluded: Vec<Cube> = one.encoding.excluded.iter().chain(&other.encoding.excluded).copied().collect();
            match witness_within(&mut effort, both, &excluded) {
                Ok(None) => continue,
                Ok(Some(window)) => diagnostics.push(overlap(declarations, one, other, window)),
                Err(TooComplex) => {
                    let message = "these rows have too many conditions to tell whether they overlap";
                    let diagnostic = Diagnostic::new(codes::TOO_MANY, other.span, message);
                    let help = "give the rows different fixed bits";
                    return diagnostics.push(diagnostic.also(one.span, "the other row").help(help));
                }
            }
            if diagnostics.is_full() {
                return;
            }
            // One mistake in a family shows up in many members; it is reported once.
            reported.insert((one.row, other.row));
        }
        alike.push((bits, other));
    }
}

/// Puts instructions that may overlap in the same bucket, and returns the bucket number of each: two in different
/// buckets differ in a bit that both fix.
fn buckets(instructions: &[Instruction]) -> Vec<usize> {
    let mut numbers = vec![0; instructions.len()];
    let mut made = 0;
    // Instructions that agree in the bits of a mask, with the mask.
    let mut open: Vec<(Vec<usize>, u128)> = vec![((0..instructions.len()).collect(), 0)];
    while let Some((alike, known)) = open.pop() {
        let fixed = |at: &usize| instructions[*at].encoding.fixed;
        let common = alike.iter().fold(!known, |bits, at| bits & fixed(at).mask);
        if alike.len() < SMALL_BUCKET || common == 0 {
            alike.iter().for_each(|at| numbers[*at] = made);
            made += 1;
            continue;
        }
        let mut parts: BTreeMap<u128, Vec<usize>> = BTreeMap::new();
        alike.iter().for_each(|at| parts.entry(fixed(at).value & common).or_default().push(*at));
        open.extend(parts.into_values().map(|part| (part, known | common)));
    }
    numbers
}

fn overlap(declarations: &Declarations, one: &Instruction, other: &Instruction, window: u128) -> Diagnostic {
    let cell = declarations.code_cell();
    let length = one.encoding.cells.max(other.encoding.cells) as usize;
    let digits = (cell.bits() as usize).div_ceil(4);
    let word: Vec<String> = cells(window, cell).take(length).map(|value| format!("{value:0digits$X}")).collect();
    let word = word.join(" ");
    let name = |instruction: &Instruction| {
        let field = |index: usize| declarations.fields[instruction.operands[index].index()].name.clone();
        instruction.syntax.render(field)
    };
    let same_length = one.encoding.cells == other.encoding.cells;
    let (code, message, help) = if same_length {
        let message = format!("the encoding {word} belongs to both `{}` and `{}`", name(one), name(other));
        (codes::OVERLAP, message, "change a fixed bit of one of them, or exclude the case with `where`")
    } else {
        let (short, long) = if one.encoding.cells < other.encoding.cells { (one, other) } else { (other, one) };
        let message = format!(
            "the encoding {word} has two lengths: `{}` takes {} {}, `{}` takes {}",
            name(short),
            short.encoding.cells,
            plural(short.encoding.cells, "cell"),
            name(long),
            long.encoding.cells
        );
        (codes::LENGTH_UNDECIDED, message, "make the two rows differ in the cells that both have")
    };
    let diagnostic = Diagnostic::new(code, other.span, message).here(format!("`{}` claims it", name(other)));
    diagnostic.also(one.span, format!("`{}` claims it too", name(one))).help(help)
}

/// Checks that the modes of a machine leave room for its longest instruction.
pub(crate) fn check_modes(declarations: &Declarations, instructions: &[Instruction], diagnostics: &mut Diagnostics) {
    let modes = u128::BITS - declarations.mode_mask().leading_zeros();
    let bits = |instruction: &Instruction| instruction.encoding.cells * declarations.code_cell().bits();
    let longest = instructions.iter().max_by_key(|instruction| instruction.encoding.cells);
    let Some(longest) = longest.filter(|longest| modes > 0 && bits(longest) + modes > u128::BITS) else { return };
    let message = format!("an instruction and the modes have at most {} bits together", limits::INSTRUCTION_BITS);
    let help = format!("the modes have {modes}; make this instruction shorter");
    diagnostics.push(Diagnostic::new(codes::TOO_MANY, longest.span, message).help(help));
}

/// Instructions that look alike, by shape.
pub(crate) type ByShape<'i> = BTreeMap<String, Vec<&'i Instruction>>;

pub(crate) fn by_shape(instructions: &[Instruction]) -> ByShape<'_> {
    let mut by_shape = ByShape::new();
    for instruction in instructions {
        for key in instruction.syntax.shapes() {
            by_shape.entry(key).or_default().push(instruction);
        }
    }
    by_shape
}

/// Checks that no text belongs to two rows.
pub(crate) fn check_syntax(declarations: &Declarations, by_shape: &ByShape, diagnostics: &mut Diagnostics) {
    let modes = declarations.mode_mask();
    for group in by_shape.values() {
        for (at, other) in group.iter().enumerate() {
            let fields = |instruction: &Instruction| -> Vec<&Field> {
                instruction.operands.iter().map(|id| &declarations.fields[id.index()]).collect()
            };
            let same = group[..at].iter().find(|one| {
                one.row != other.row
                    && one.encoding.fixed.within(modes).intersection(other.encoding.fixed.within(modes)).is_some()
                    && !one.encoding.is_special()
                    && !other.encoding.is_special()
                    && !told_apart(&fields(one), &fields(other))
                    && !never_alike(declarations, one, other)
            });
            let Some(one) = same else { continue };
            diagnostics.push(same_syntax(&other.syntax, other.span, one.span));
            if diagnostics.is_full() {
                return;
            }
        }
    }
}

/// Whether conditions exclude all words that two rows of the same shape have in common. Other operands are ignored:
/// their conditions do not tell rows apart.
fn never_alike(declarations: &Declarations, one: &Instruction, other: &Instruction) -> bool {
    let field = |instruction: &Instruction, at: usize| &declarations.fields[instruction.operands[at].index()];
    let mut effort = declarations.effort.get();
    let mut may_be = |instruction: &Instruction, at: usize, bits: u64| {
        let segments = &instruction.encoding.operands[at];
        let cube = Cube { mask: scatter(segments, u64::MAX), value: scatter(segments, bits) };
        let both = instruction.encoding.fixed.intersection(cube);
        both.is_some_and(|both| witness_within(&mut effort, both, &instruction.encoding.excluded) != Ok(None))
    };
    let told = (0..one.operands.len()).any(|at| {
        let (first, second) = (field(one, at), field(other, at));
        let common: Vec<&str> = first.names().filter(|name| second.word(name).is_some()).collect();
        let all_sets = 1u64 << common.len().min(limits::WORD_BITS as usize);
        let mut sets = (1..all_sets).map(|set| {
            let is_in = |at: &usize| set >> at & 1 == 1;
            (0..common.len()).filter(is_in).map(|at| common[at]).collect::<Vec<_>>()
        });
        first.has_words()
            && second.has_words()
            && !sets.any(|set| match (first.together(&set), second.together(&set)) {
                (Ok(first), Ok(second)) => may_be(one, at, first) && may_be(other, at, second),
                _ => false,
            })
    });
    declarations.effort.set(effort);
    told
}

/// Makes a diagnostic for two rows with the same syntax.
pub(crate) fn same_syntax(syntax: &Syntax, span: Span, other: Span) -> Diagnostic {
    let message = format!("`{}` has the same syntax as another row", syntax.mnemonic());
    let help = "give one of them another mnemonic, or operands of another kind";
    Diagnostic::new(codes::SAME_SYNTAX, span, message).also(other, "the other row").help(help)
}

/// Whether some operand can be written for only one of two syntaxes of the same shape.
pub(crate) fn told_apart(one: &[&Field], other: &[&Field]) -> bool {
    one.iter().zip(other).any(|(a, b)| match (&a.domain, &b.domain) {
        (Domain::Number(x), Domain::Number(y)) => a.width != b.width || x != y,
        (Domain::Values(x), Domain::Values(y)) => x != y,
        _ if a.is_number() || b.is_number() => true,
        _ => !a.names().any(|name| b.bits_named(name).is_some()),
    })
}
