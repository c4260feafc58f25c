//! A `+` before a number that may be negative: `(ix+X)` is also written `(ix-5)`.

use std::collections::BTreeSet;

use super::Declarations;
use crate::model::{Domain, Field, Instruction};
use crate::pseudo::Pseudo;
use crate::syntax::{PieceKind, Syntax};

/// Finds the signs of all instructions. If another row has a `-` of its own in the place of a `+`, both stay as they
/// are.
pub(super) fn of_instructions(declarations: &Declarations, instructions: &mut [Instruction]) {
    let with_minus: BTreeSet<String> = instructions.iter().flat_map(|row| minus_shapes(&row.syntax)).collect();
    for instruction in instructions {
        let operands = &instruction.operands;
        let field = |index: usize| &declarations.fields[operands[index].index()];
        set(&mut instruction.syntax, field, &with_minus);
    }
}

/// Finds the signs of all pseudo-instructions. One with a `-` of its own takes precedence over one with a sign.
pub(super) fn of_pseudos(pseudos: &mut [Pseudo]) {
    for Pseudo { syntax, parameters, .. } in pseudos {
        set(syntax, |index| &parameters[index], &BTreeSet::new());
    }
}

fn minus_shapes(syntax: &Syntax) -> Vec<String> {
    let has_minus = syntax.pieces.iter().any(|piece| piece.kind.text() == Some("-"));
    if has_minus { syntax.shapes() } else { Vec::new() }
}

fn set<'f>(syntax: &mut Syntax, field: impl Fn(usize) -> &'f Field, with_minus: &BTreeSet<String>) {
    for at in 1..syntax.pieces.len().saturating_sub(1) {
        let is_plus = syntax.pieces[at].kind.text() == Some("+");
        let follows_value = match &syntax.pieces[at - 1].kind {
            PieceKind::Text(text) => text.ends_with(|c: char| c.is_ascii_alphanumeric()),
            PieceKind::Operand(_) => true,
            PieceKind::Sign => false,
        };
        let PieceKind::Operand(operand) = syntax.pieces[at + 1].kind else { continue };
        if is_plus && follows_value && can_be_negative(field(operand)) {
            let plus = std::mem::replace(&mut syntax.pieces[at].kind, PieceKind::Text("-".to_owned()));
            let is_taken = !with_minus.is_empty() && syntax.shapes().iter().any(|shape| with_minus.contains(shape));
            syntax.pieces[at].kind = if is_taken { plus } else { PieceKind::Sign };
        }
    }
}

fn can_be_negative(field: &Field) -> bool {
    match &field.domain {
        Domain::Number(numeric) => numeric.signed,
        Domain::Values(values) => values.signed,
        Domain::Registers(_) | Domain::Names(_) => false,
    }
}
