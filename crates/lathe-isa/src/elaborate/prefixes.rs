//! Prefixes: what stands before an instruction and changes it. A row of a block `after ix, iy` becomes one more
//! instruction for each prefix, or sequence of prefixes, that the block names: with the prefix's bits in front, some
//! registers replaced by others, and what the prefix does before the row's meaning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use lathe_base::{Diagnostic, Diagnostics, limits, nearest};

use super::Declarations;
use super::pictures::{self, Picture, Taker, Unit};
use super::rows::Draft;
use super::syntaxes::WrittenSyntax;
use crate::codes;
use crate::encoding::Cube;
use crate::language::ast::{self, Item, Name, Order};
use crate::language::rename::{Renames, renamed};
use crate::model::{Domain, Field, FieldId, Place};

/// Whether rows that the prefixes do not change are written without the names of the prefixes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    Yes,
    No,
}

impl Plain {
    /// Returns `Yes` if no other instruction comes from the same row.
    pub(crate) fn of(after: &ast::After) -> Plain {
        if after.only && after.sequences.len() == 1 { Plain::Yes } else { Plain::No }
    }
}

/// One or several prefixes that stand before an instruction, in this order.
pub(crate) struct Sequence<'a> {
    /// The names of the prefixes.
    names: Vec<String>,
    /// The effects of the prefixes, in order.
    pub(crate) bodies: Vec<&'a ast::Block>,
    pub(crate) cells: u32,
    fixed: Cube,
    renames: Renames,
    /// The places of the registers that replace others.
    places: BTreeMap<String, Place>,
    /// The fields whose registers are replaced, and the fields that replace them.
    fields: BTreeMap<FieldId, FieldId>,
}

impl<'a> Declarations<'a> {
    /// Finds the prefixes that blocks of instructions name, and makes the fields that they change.
    pub(crate) fn prefixes(&mut self, definition: &'a ast::Definition, diagnostics: &mut Diagnostics) {
        let mut known: BTreeMap<&str, Option<Sequence<'a>>> = BTreeMap::new();
        for item in &definition.items {
            let Item::Prefix(prefix) = item else { continue };
            if known.contains_key(prefix.name.text.as_str()) {
                let message = format!("the prefix `{}` is declared twice", prefix.name.text);
                let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, prefix.name.span, message);
                diagnostics.push(diagnostic.help("rename one of them"));
                continue;
            }
            let sequence = self.prefix(prefix, diagnostics);
            known.insert(&prefix.name.text, sequence);
        }
        let mut used: Vec<&str> = Vec::new();
        for item in &definition.items {
            let Item::Instructions(block) = item else { continue };
            for names in block.after.iter().flat_map(|after| &after.sequences) {
                used.extend(names.iter().map(|name| name.text.as_str()));
                let key = key(names);
                if !self.sequences.contains_key(&key) {
                    let sequence = self.sequence(names, &known, diagnostics);
                    self.sequences.insert(key, sequence.map(Rc::new));
                }
            }
        }
        for item in &definition.items {
            let Item::Prefix(prefix) = item else { continue };
            if !used.contains(&prefix.name.text.as_str()) && prefix.name.span.file == lathe_base::FileId(0) {
                let message = format!("prefix `{}` is never used", prefix.name.text);
                let help = "name it after `instructions after`, or remove it";
                diagnostics.push(Diagnostic::new(codes::UNUSED, prefix.name.span, message).help(help));
            }
        }
    }

    /// Returns the sequence of these prefixes, one after the other.
    pub(crate) fn sequence_of(&self, names: &[Name]) -> Option<Rc<Sequence<'a>>> {
        self.sequences.get(&key(names))?.clone()
    }

    fn prefix(&self, prefix: &'a ast::Prefix, diagnostics: &mut Diagnostics) -> Option<Sequence<'a>> {
        let unit = Unit { width: self.code_cell(), order: Order::Big };
        let picture = pictures::read(self, &prefix.picture, unit, diagnostics)?;
        if !picture.taken.is_empty() || picture.ignored != 0 {
            let message = "the bits of a prefix are all fixed";
            let diagnostic = Diagnostic::new(codes::BAD_PICTURE, prefix.picture.span, message);
            diagnostics.push(diagnostic.help("write one prefix for each of its codes"));
            return None;
        }
        let (mut renames, mut places) = (Renames::new(), BTreeMap::new());
        for (from, to) in &prefix.renames {
            let (old, new) = (self.place_of(from, diagnostics)?, self.place_of(to, diagnostics)?);
            if old.width != new.width {
                let (bits, others) = (old.width.bits(), new.width.bits());
                let message = format!("`{}` has {bits} bits and `{}` has {others}", from.text, to.text);
                let help = "a register can only mean another of the same width";
                diagnostics.push(Diagnostic::new(codes::WIDTH_MISMATCH, to.span, message).help(help));
                return None;
            }
            renames.insert(from.text.clone(), to.text.clone());
            places.insert(from.text.clone(), new);
        }
        Some(Sequence {
            names: vec![prefix.name.text.clone()],
            bodies: vec![&prefix.body],
            cells: picture.cells,
            fixed: picture.fixed,
            renames,
            places,
            fields: BTreeMap::new(),
        })
    }

    fn sequence(
        &mut self,
        names: &[Name],
        known: &BTreeMap<&str, Option<Sequence<'a>>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Sequence<'a>> {
        let mut whole = Sequence {
            names: Vec::new(),
            bodies: Vec::new(),
            cells: 0,
            fixed: Cube::default(),
            renames: Renames::new(),
            places: BTreeMap::new(),
            fields: BTreeMap::new(),
        };
        for name in names {
            let Some(part) = known.get(name.text.as_str()) else {
                let message = format!("there is no prefix named `{}`", name.text);
                let diagnostic = Diagnostic::new(codes::UNKNOWN_NAME, name.span, message);
                diagnostics.push(match nearest(&name.text, known.keys().copied()) {
                    Some(meant) => diagnostic.did_you_mean(name.span, meant),
                    None => diagnostic.help(format!("declare it with `prefix {} 0xDD`", name.text)),
                });
                return None;
            };
            let part = part.as_ref()?;
            let bits = whole.cells * self.code_cell().bits();
            if (bits + part.cells * self.code_cell().bits()) as usize >= limits::INSTRUCTION_BITS {
                let message = format!("these prefixes have {} bits or more", limits::INSTRUCTION_BITS);
                let diagnostic = Diagnostic::new(codes::TOO_MANY, name.span, message);
                diagnostics.push(diagnostic.help("use fewer of them"));
                return None;
            }
            whole.names.extend(part.names.iter().cloned());
            whole.bodies.extend(&part.bodies);
            whole.cells += part.cells;
            whole.fixed.mask |= part.fixed.mask >> bits;
            whole.fixed.value |= part.fixed.value >> bits;
            whole.renames.extend(part.renames.clone());
            whole.places.extend(part.places.clone());
        }
        self.derive_fields(&mut whole);
        Some(whole)
    }

    /// Makes a field with other registers for each field some of whose registers change.
    fn derive_fields(&mut self, sequence: &mut Sequence) {
        for at in 0..self.fields.len() {
            let Domain::Registers(list) = &self.fields[at].domain else { continue };
            let is_changed = |(name, _): &&(String, _)| sequence.renames.contains_key(name.as_str());
            if !list.iter().flatten().any(|entry| is_changed(&entry)) {
                continue;
            }
            let changed = list.iter().map(|entry| {
                let (name, place) = entry.as_ref()?;
                let new = sequence.renames.get(name).cloned().zip(sequence.places.get(name).cloned());
                Some(new.unwrap_or_else(|| (name.clone(), place.clone())))
            });
            let domain = Domain::Registers(changed.collect());
            let after = format!("After `{}`.", sequence.names.join(" "));
            let documentation = format!("{}\n{after}", self.fields[at].documentation).trim().to_owned();
            // Other spellings belong to registers that may have been replaced.
            let field = Field { domain, documentation, spellings: Vec::new(), ..self.fields[at].clone() };
            let (old, new) = (FieldId(at as u32), FieldId(self.fields.len() as u32));
            if let Some(counter) = self.counters.get(&old).cloned() {
                self.counters.insert(new, counter);
            }
            sequence.fields.insert(old, new);
            self.fields.to_mut().push(field);
        }
    }
}

fn key(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.text.clone()).collect()
}

impl<'a> Sequence<'a> {
    /// Puts these prefixes before a row, given as one draft per choice of its modes. If the row exists only with them,
    /// it is `plain`: their names are not needed to tell it apart.
    pub(crate) fn applied(
        &self,
        declarations: &Declarations<'a>,
        drafts: &[Draft<'a>],
        plain: Plain,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Draft<'a>>> {
        let names: &[String] = if plain == Plain::Yes { &[] } else { &self.names };
        let whole = drafts.iter().find_map(|draft| draft.whole.as_ref());
        let whole = whole.and_then(|whole| whole.after(declarations, self, names)).map(Rc::new);
        let mut applied = Vec::new();
        for draft in drafts {
            let draft = self.applied_to(declarations, draft, names, diagnostics)?;
            applied.push(Draft { whole: whole.clone(), ..draft });
        }
        Some(applied)
    }

    fn applied_to(
        &self,
        declarations: &Declarations<'a>,
        draft: &Draft<'a>,
        names: &[String],
        diagnostics: &mut Diagnostics,
    ) -> Option<Draft<'a>> {
        let cell = declarations.code_cell().bits();
        let row = draft.row;
        if ((self.cells + draft.picture.cells) * cell) as usize > limits::INSTRUCTION_BITS {
            let message = format!("with its prefix, this has more than {} bits", limits::INSTRUCTION_BITS);
            let diagnostic = Diagnostic::new(codes::TOO_MANY, row.picture.span, message);
            diagnostics.push(diagnostic.help("make the instruction shorter"));
            return None;
        }
        let of_modes = draft.modes.iter().any(|one| one.mode.fields().any(|id| self.fields.contains_key(&id)));
        let Some(written) = self.written(&draft.written, if of_modes { &[] } else { names }) else {
            let message = format!("`{}` would not change this, and its name cannot stand before it", self.names[0]);
            let help =
                "a first word with an operand in it cannot have a prefix before it; move the row to another block";
            diagnostics.push(Diagnostic::new(codes::BAD_SYNTAX, row.syntax.span, message).help(help));
            return None;
        };
        Some(Draft {
            written,
            operands: draft.operands.iter().map(|id| self.field(*id)).collect(),
            picture: self.before(declarations, &draft.picture),
            fixed: self.shifted(declarations, &draft.fixed),
            excluded: draft.excluded.iter().map(|cube| self.shifted(declarations, cube)).collect(),
            meaning: Cow::Owned(self.meaning(&row.meaning)),
            prefixes: self.bodies.clone(),
            ..draft.clone()
        })
    }

    /// Returns the field that replaces another after these prefixes.
    pub(crate) fn field(&self, id: FieldId) -> FieldId {
        self.fields.get(&id).copied().unwrap_or(id)
    }

    /// Returns a meaning as changed by these prefixes.
    pub(crate) fn meaning(&self, block: &ast::Block) -> ast::Block {
        renamed(block, &self.renames)
    }

    /// Returns a syntax as changed by these prefixes, with these names before it if nothing else shows them.
    pub(crate) fn written(&self, written: &WrittenSyntax, names: &[String]) -> Option<WrittenSyntax> {
        written.after(names, &self.renames, &self.fields)
    }

    /// Puts the bits of these prefixes before a picture.
    pub(crate) fn before(&self, declarations: &Declarations, picture: &Picture) -> Picture {
        let bits = self.cells * declarations.code_cell().bits();
        let taken = picture.taken.iter().map(|(taker, segments)| {
            let taker = match taker {
                Taker::Field(id) => Taker::Field(self.field(*id)),
                other => *other,
            };
            let mut segments = segments.clone();
            segments.iter_mut().for_each(|segment| segment.shift -= bits);
            (taker, segments)
        });
        let own = self.shifted(declarations, &picture.fixed);
        Picture {
            cells: self.cells + picture.cells,
            fixed: Cube { mask: own.mask | self.fixed.mask, value: own.value | self.fixed.value },
            ignored: picture.ignored >> bits,
            taken: taken.collect(),
            constants: picture.constants.iter().map(|(id, bits)| (self.field(*id), *bits)).collect(),
        }
    }

    /// Moves bits behind these prefixes. Modes stay where they are.
    fn shifted(&self, declarations: &Declarations, cube: &Cube) -> Cube {
        let (bits, modes) = (self.cells * declarations.code_cell().bits(), declarations.mode_mask());
        let shift = |all: u128| (all & !modes) >> bits | all & modes;
        Cube { mask: shift(cube.mask), value: shift(cube.value) }
    }
}
