//! Values that must be fixed numbers: widths, reset values, codes, addresses.

use std::cell::Cell;

use lathe_base::{Diagnostic, Diagnostics, Span, Width};

use super::names::Names;
use crate::codes;
use crate::language::ast::{Binary, Expr, ExprKind, Type, Unary};
use crate::names::Named;
use crate::operand::{fit, range};
use crate::pseudo;

/// Evaluates an expression made of numbers and of names that `name` knows; `None` for anything else.
pub(crate) fn constant(expr: &Expr, name: &dyn Fn(&str, Span) -> Option<i128>) -> Option<i128> {
    match &expr.kind {
        ExprKind::Number(value) => Some(i128::from(*value)),
        ExprKind::Name(text) => name(text, expr.span),
        ExprKind::Unary(Unary::Negate, inner) => constant(inner, name)?.checked_neg(),
        ExprKind::Binary(Binary::Join, ..) => None,
        ExprKind::Binary(operator, left, right) => {
            pseudo::binary(*operator, constant(left, name)?, constant(right, name)?)
        }
        _ => None,
    }
}

/// Returns the constant that a declared name stands for.
pub(crate) fn declared(names: &Names, name: &str, span: Span) -> Option<i128> {
    match names.peek(name)? {
        Named::Trap(value) | Named::Constant(value, _) => {
            names.find(name, span);
            Some(i128::from(value))
        }
        Named::Width(_) => letter(names, name, span),
        _ => None,
    }
}

/// Returns the width that a letter of the definition stands for.
pub(crate) fn letter(names: &Names, name: &str, span: Span) -> Option<i128> {
    let Named::Width(width) = names.peek(name)? else { return None };
    names.find(name, span);
    Some(i128::from(width.bits()))
}

/// Evaluates a constant that fits in `width`, or reports why it is not one.
pub(crate) fn constant_in(width: Width, expr: &Expr, names: &Names, diagnostics: &mut Diagnostics) -> Option<u64> {
    let Some(value) = constant(expr, &|name, span| declared(names, name, span)) else {
        let message = "expected a fixed number";
        let help = "write a number, or arithmetic on numbers";
        diagnostics.push(Diagnostic::new(codes::NOT_CONSTANT, expr.span, message).help(help));
        return None;
    };
    let fitting = fit(value, width);
    names.note(expr.span, Some(width).filter(|width| *width != Width::MAX), fitting.map(u128::from));
    fitting.or_else(|| {
        diagnostics.push(does_not_fit(expr, value, width));
        None
    })
}

pub(crate) fn does_not_fit(expr: &Expr, value: i128, width: Width) -> Diagnostic {
    let message = format!("{value} does not fit in {} {}", width.bits(), plural(width.bits(), "bit"));
    let (lowest, highest) = range(width);
    let help = format!("{width} holds 0 to {highest}, or {lowest} to {} as signed", highest >> 1);
    Diagnostic::new(codes::DOES_NOT_FIT, expr.span, message).help(help)
}

pub(crate) fn plural(count: u32, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// Whether an expression has no value only because of a name that has been reported already.
pub(crate) fn is_broken(expr: &Expr, names: &Names) -> bool {
    let broken = Cell::new(false);
    let value = constant(expr, &|name, span| {
        broken.set(broken.get() || names.is_broken(name));
        declared(names, name, span)
    });
    value.is_none() && broken.get()
}

/// Returns the width of a type outside of meanings, or reports that there is no such width.
pub(crate) fn width(ty: &Type, names: &Names, diagnostics: &mut Diagnostics) -> Option<Width> {
    if is_broken(&ty.width, names) {
        return None;
    }
    width_with(ty, Width::MAX, &|name, span| letter(names, name, span), diagnostics)
}

/// Returns the width of a type whose letters `name` knows, or reports that there is no such width up to `most`.
pub(crate) fn width_with(
    ty: &Type,
    most: Width,
    name: &dyn Fn(&str, Span) -> Option<i128>,
    diagnostics: &mut Diagnostics,
) -> Option<Width> {
    let Some(bits) = constant(&ty.width, name) else {
        let message = "this width is not a fixed number";
        let help = "write a number, as in `u8`; a letter, as in `uK`, is a width in functions, or after `width K = 8`";
        diagnostics.push(Diagnostic::new(codes::NOT_CONSTANT, ty.span, message).help(help));
        return None;
    };
    let width = u64::try_from(bits).ok().and_then(Width::computed);
    if width.is_none_or(|width| width > most) {
        let message = match width {
            Some(_) => format!("{bits} bits are too many here"),
            None => format!("{bits} is not a possible width"),
        };
        let help = match width {
            Some(_) => "what a machine keeps has 1 to 64 bits; only values inside a meaning may have 128".to_owned(),
            None => format!("a width is 1 to {} bits", most.bits()),
        };
        diagnostics.push(Diagnostic::new(codes::BAD_WIDTH, ty.span, message).help(help));
        return None;
    }
    width
}
