//! Fields: what the bits of an operand say.

use lathe_base::{Diagnostic, Diagnostics, Span, Width};

use super::World;
use super::constants::{constant_in, width};
use super::declarations::{spread, wrong_name};
use super::names::Named;
use crate::codes;
use crate::language::ast::{self, AddressKind, FieldKind, Name, NameRange, Order};
use crate::model::*;

impl World<'_> {
    pub(crate) fn fields(&mut self, fields: &ast::Fields, diagnostics: &mut Diagnostics) {
        let described = match &fields.kind {
            FieldKind::Register(list, span) => self.register_field(list, *span, diagnostics),
            FieldKind::Enumeration(list, _) => self.enumeration(list, diagnostics),
            FieldKind::Number(number) => self.number_field(number, diagnostics),
        };
        let Some((width, order, domain)) = described else { return };
        for name in &fields.names {
            if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
                let message = format!("the field `{}` does not begin with a capital letter", name.text);
                let help =
                    format!("write `{}`; capitals tell operands from texts in the syntax", name.text.to_uppercase());
                diagnostics.push(Diagnostic::new(codes::WRONG_KIND, name.span, message).help(help));
                continue;
            }
            let id = FieldId(self.fields.len() as u32);
            if self.names.declare(name, Named::Field(id), diagnostics) {
                let (name, span) = (name.text.clone(), name.span);
                self.fields.push(Field { name, width, order, domain: domain.clone(), span });
            }
        }
    }

    fn register_field(
        &self,
        list: &[Option<NameRange>],
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let mut places = Vec::new();
        for entry in list {
            let Some(range) = entry else {
                places.push(None);
                continue;
            };
            for name in spread(range, diagnostics) {
                let place = self.place_of(&name, diagnostics)?;
                places.push(Some((name, place)));
            }
        }
        let (first, place) = places.iter().flatten().next().or_else(|| {
            let message = "a register field without registers";
            diagnostics.push(Diagnostic::new(codes::MISSING_ITEM, span, message).help("name at least one register"));
            None
        })?;
        for (name, other) in places.iter().flatten() {
            if other.width != place.width {
                let message = format!(
                    "`{}` has {} bits, but `{}` has {}",
                    name.text,
                    other.width.bits(),
                    first.text,
                    place.width.bits()
                );
                let help = "all registers of a field have one width; make a second field for the others";
                diagnostics.push(Diagnostic::new(codes::WIDTH_MISMATCH, name.span, message).help(help));
                return None;
            }
        }
        let width = Width::to_tell_apart(places.len());
        let places = places.into_iter().map(|entry| entry.map(|(name, place)| (name.text, place))).collect();
        Some((width, Order::Big, Domain::Registers(places)))
    }

    pub(crate) fn place_of(&self, name: &Name, diagnostics: &mut Diagnostics) -> Option<Place> {
        match self.names.find(&name.text) {
            Some(Named::Register(id)) => Some(Place::whole(id, self.registers[id.index()].width)),
            Some(Named::View(at)) => Some(self.views[at].place.clone()),
            found => {
                let is_place = |named| matches!(named, Named::Register(_) | Named::View(_));
                let fallback = format!("declare it with `register {} : u8`", name.text);
                let help = self.names.suggestion(&name.text, is_place).unwrap_or(fallback);
                diagnostics.push(wrong_name(name, "register", found).help(help));
                None
            }
        }
    }

    fn enumeration(
        &mut self,
        list: &[(Name, Option<ast::Expr>)],
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let mut values: Vec<(String, u64)> = Vec::new();
        for (name, value) in list {
            let follows = values.last().map_or(0, |(_, last)| last + 1);
            let value = match value {
                Some(expr) => constant_in(Width::MAX, expr, &self.names, diagnostics)?,
                None => follows,
            };
            values.push((name.text.clone(), value));
        }
        let largest = values.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let width = Width::to_tell_apart(usize::try_from(largest).ok()?.saturating_add(1));
        for ((name, _), (_, value)) in list.iter().zip(&values) {
            self.names.declare(name, Named::Constant(*value, width), diagnostics);
            self.names.find(&name.text);
        }
        Some((width, Order::Big, Domain::Names(values)))
    }

    pub(crate) fn number_field(
        &self,
        number: &ast::Number,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let width = width(&number.ty, &|_| None, diagnostics)?;
        let unstored = match &number.align {
            Some(align) => self.unstored(align, width, diagnostics)?,
            None => 0,
        };
        let target = match &number.address {
            Some(kind) => Some(self.target(kind, width, number, diagnostics)?),
            None => None,
        };
        let numeric = Numeric { signed: number.ty.signed, unstored, target, low: number.low };
        Some((width, number.order.unwrap_or(Order::Big), Domain::Number(numeric)))
    }

    fn unstored(&self, align: &ast::Expr, width: Width, diagnostics: &mut Diagnostics) -> Option<u32> {
        let value = constant_in(width, align, &self.names, diagnostics)?;
        let bits = value.trailing_zeros();
        if !value.is_power_of_two() || bits >= width.bits() {
            let message = format!("{value} is not a power of two that fits in {} bits", width.bits());
            diagnostics.push(Diagnostic::new(codes::BAD_WIDTH, align.span, message).help("as in `s13 align 2`"));
            return None;
        }
        Some(bits)
    }

    fn target(
        &self,
        kind: &AddressKind,
        width: Width,
        number: &ast::Number,
        diagnostics: &mut Diagnostics,
    ) -> Option<Target> {
        let base = |next: bool| if next { Base::Next } else { Base::Pc };
        let target = match kind {
            AddressKind::Absolute(Some(memory)) => Target::Absolute(self.memory_of(memory, diagnostics)?),
            AddressKind::Absolute(None) => Target::Absolute(self.pc.as_ref()?.memory),
            AddressKind::Relative { back, from_next, number_is_address } => {
                Target::Relative { back: *back, from: base(*from_next), number_is_address: *number_is_address }
            }
            AddressKind::Within { of_next } => Target::Within(base(*of_next)),
        };
        let addresses = match target {
            Target::Absolute(memory) => self.memories[memory.index()].address,
            _ => self.pc_width(),
        };
        if width > addresses {
            let message = format!("{} bits are more than an address has, which is {}", width.bits(), addresses.bits());
            let help = format!("write `{addresses}` or less");
            diagnostics.push(Diagnostic::new(codes::WIDTH_MISMATCH, number.span, message).help(help));
            return None;
        }
        Some(target)
    }
}
