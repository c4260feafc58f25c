//! Fields: what the bits of an operand mean.

use std::collections::{BTreeMap, BTreeSet};

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::{constant_in, width};
use super::declarations::spread;
use super::modes::Counter;
use crate::codes;
use crate::language::ast::{self, AddressKind, FieldKind, ListedRegister, Name, Order, Origin, Page};
use crate::model::*;
use crate::names::Named;
use crate::words;

impl<'a> Declarations<'a> {
    pub(crate) fn fields(&mut self, fields: &'a ast::Fields, diagnostics: &mut Diagnostics) {
        let mut spellings = Vec::new();
        let mut counter = None;
        let mut words = Vec::new();
        let described = match &fields.kind {
            FieldKind::Register(list, span) => {
                self.register_field(list, *span, &mut spellings, &mut counter, diagnostics)
            }
            FieldKind::Enumeration(list, span) => self.enumeration(list, *span, diagnostics),
            FieldKind::Words(groups, span) => self.words(groups, *span, diagnostics).map(|(width, list)| {
                words = list;
                let names = (0..=width.mask()).filter_map(|bits| Some((words::written(&words, bits)?, bits))).collect();
                (width, Order::Big, Domain::Names(names))
            }),
            FieldKind::Number(number) => self.number_field(number, diagnostics).and_then(|described| {
                spellings = self.number_names(number, described.0, diagnostics)?;
                for ((name, _), (_, value)) in number.names.iter().zip(&spellings) {
                    // An address may have the name of the register that lives there; meanings see the register.
                    if !matches!(self.names.peek(&name.text), Some(Named::Register(_) | Named::View(_))) {
                        self.names.declare_value(name, *value, described.0, diagnostics);
                    }
                }
                Some(described)
            }),
        };
        let described = described.filter(|(_, _, domain)| self.check_alike(fields, domain, &spellings, diagnostics));
        let Some((width, order, domain)) = described else {
            return fields.names.iter().for_each(|name| self.names.mark_broken(&name.text));
        };
        for name in &fields.names {
            if self.too_many_names(&domain) {
                let message = format!("the fields have more than {} names together", limits::FIELD_NAMES);
                let help = "use fewer fields with long lists of registers";
                diagnostics.push(Diagnostic::new(codes::TOO_MANY, name.span, message).help(help));
                self.names.mark_broken(&name.text);
                continue;
            }
            if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
                let message = format!("the field `{}` does not begin with a capital letter", name.text);
                let help = format!(
                    "write `{}`, here and in the rows; capitals tell operands from texts in the syntax",
                    name.text.to_uppercase()
                );
                self.names.mark_broken(&name.text);
                diagnostics.push(Diagnostic::new(codes::WRONG_KIND, name.span, message).help(help));
                continue;
            }
            let id = FieldId(self.fields.len() as u32);
            if self.names.declare(name, Named::Field(id), diagnostics) {
                if let Some(counter) = &counter {
                    self.counters.insert(id, Counter::clone(counter));
                }
                if counts_from_here(fields) {
                    self.from_here.insert(id);
                }
                let (name, span) = (name.text.clone(), name.span);
                let (domain, spellings) = (domain.clone(), spellings.clone());
                self.fields.to_mut().push(Field {
                    name,
                    width,
                    order,
                    domain,
                    spellings,
                    words: words.clone(),
                    documentation: fields.documentation.clone(),
                    span,
                });
            }
        }
    }

    /// Reports operands of one field that assembly cannot tell apart, because case does not matter there.
    fn check_alike(
        &self,
        fields: &ast::Fields,
        domain: &Domain,
        spellings: &[(String, u64)],
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let shown: Vec<(&str, u64)> = match domain {
            Domain::Registers(list) => {
                list.iter().zip(0..).filter_map(|(entry, code)| Some((entry.as_ref()?.0.as_str(), code))).collect()
            }
            Domain::Names(list) => list.iter().map(|(name, code)| (name.as_str(), *code)).collect(),
            Domain::Number(_) | Domain::Values(_) => Vec::new(),
        };
        let mut known: BTreeMap<String, (&str, u64)> = BTreeMap::new();
        for (name, code) in shown.into_iter().chain(spellings.iter().map(|(name, code)| (name.as_str(), *code))) {
            let Some((other, first)) = known.insert(name.to_ascii_lowercase(), (name, code)) else { continue };
            if first == code {
                continue;
            }
            let (message, help) = if other == name {
                (
                    format!("`{name}` has two codes, {first} and {code}"),
                    "write `_` for a code without a register of its own",
                )
            } else {
                let message = format!("`{other}` and `{name}` cannot be told apart: case does not matter in assembly");
                (message, "rename one of them")
            };
            let span = match &fields.kind {
                FieldKind::Register(_, span) | FieldKind::Enumeration(_, span) | FieldKind::Words(_, span) => *span,
                FieldKind::Number(number) => number.span,
            };
            diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, span, message).help(help));
            return false;
        }
        true
    }

    /// Whether another list of names as long as this one would exceed the limit.
    pub(crate) fn too_many_names(&self, domain: &Domain) -> bool {
        let names = |domain: &Domain| match domain {
            Domain::Registers(list) => list.len(),
            Domain::Names(list) => list.len(),
            Domain::Values(values) => values.list.len(),
            Domain::Number(_) => 0,
        };
        let sum: usize = self.fields.iter().map(|field| names(&field.domain)).sum();
        names(domain) > 0 && sum + names(domain) > limits::FIELD_NAMES
    }

    fn register_field(
        &self,
        list: &'a [Option<ListedRegister>],
        span: Span,
        spellings: &mut Vec<(String, u64)>,
        counter: &mut Option<Counter<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let mut places = Vec::new();
        for entry in list {
            let Some(ListedRegister { range, spellings: others, reads }) = entry else {
                places.push(None);
                continue;
            };
            let is_counter = self.names.peek(&range.first.text) == Some(Named::Pc) && range.last.is_none();
            if let (Some(reads), false) = (reads, is_counter) {
                let message = format!(
                    "only the program counter says what reading it gives, and `{}` is a register",
                    range.first.text
                );
                diagnostics.push(Diagnostic::new(codes::NOT_HERE, reads.span, message).help("remove `= …`"));
                return None;
            }
            if let (Some(last), Some(other)) = (&range.last, others.first()) {
                let message = format!("`{}` cannot be another name for a whole range", other.text);
                let help = "write one register for each spelling, as in `x0/zero, x1/ra`";
                diagnostics.push(Diagnostic::new(codes::BAD_RANGE, range.first.span.to(last.span), message).help(help));
                return None;
            }
            let code = places.len() as u64;
            if is_counter {
                let name = range.first.text.clone();
                self.names.find(&name, range.first.span);
                // Only the rows made for it have the counter, so it is not a register; its names are still known.
                spellings.push((name.clone(), code));
                *counter = Some(Counter { code, name, reads: reads.as_ref() });
                places.push(None);
            }
            spellings.extend(others.iter().map(|other| (other.text.clone(), code)));
            if is_counter {
                continue;
            }
            for name in spread(range, diagnostics) {
                let place = self.place_of(&name, diagnostics)?;
                places.push(Some((name, place)));
            }
            if places.len() > limits::LIST {
                return too_long("names", span, diagnostics);
            }
        }
        if places.len() > limits::LIST {
            return too_long("names", span, diagnostics);
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
        if let Some(counter) = counter
            && place.width != self.pc_width()
        {
            let (own, others) = (self.pc_width().bits(), place.width.bits());
            let message = format!("`{}` has {own} bits, but `{}` has {others}", counter.name, first.text);
            let help = "the program counter can be one of registers that have its width";
            diagnostics.push(Diagnostic::new(codes::WIDTH_MISMATCH, span, message).help(help));
            return None;
        }
        let width = Width::to_tell_apart(places.len());
        let places = places.into_iter().map(|entry| entry.map(|(name, place)| (name.text, place))).collect();
        Some((width, Order::Big, Domain::Registers(places)))
    }

    pub(crate) fn place_of(&self, name: &Name, diagnostics: &mut Diagnostics) -> Option<Place> {
        match self.names.find(&name.text, name.span) {
            Some(Named::Register(id)) => Some(Place::whole(id, self.registers[id.index()].width)),
            Some(Named::View(at)) => Some(self.views[at].place.clone()),
            Some(Named::Pc) => {
                let message = format!("`{}` is the program counter, which cannot be part of anything else", name.text);
                let help = "name it by itself: in a field, as in `register { r0..r6, pc = next }`, or in a meaning";
                diagnostics.push(Diagnostic::new(codes::WRONG_KIND, name.span, message).help(help));
                None
            }
            _ => {
                let is_place = |named| matches!(named, Named::Register(_) | Named::View(_));
                let declare = format!("declare it with `register {} : u8`", name.text);
                self.names.report_wrong(name, "register", is_place, declare, diagnostics);
                None
            }
        }
    }

    fn enumeration(
        &mut self,
        list: &[(Name, Option<ast::Expr>)],
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        if list.len() > limits::LIST {
            return too_long("names", span, diagnostics);
        }
        let mut values: Vec<(String, u64)> = Vec::new();
        for (name, value) in list {
            let follows = values.last().map_or(Some(0), |(_, last)| last.checked_add(1));
            let value = match value {
                Some(expr) => constant_in(Width::MAX, expr, &self.names, diagnostics),
                None if follows.is_none() => {
                    let message = format!("`{}` would be the code after the last one of 64 bits", name.text);
                    diagnostics.push(Diagnostic::new(codes::DOES_NOT_FIT, name.span, message).help("give it a code"));
                    None
                }
                None => follows,
            };
            let Some(value) = value else {
                list.iter().for_each(|(name, _)| self.names.mark_broken(&name.text));
                return None;
            };
            values.push((name.text.clone(), value));
        }
        let largest = values.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let width = Width::to_tell_apart(usize::try_from(largest).ok()?.saturating_add(1));
        for ((name, _), (_, value)) in list.iter().zip(&values) {
            self.names.declare_value(name, *value, width, diagnostics);
        }
        Some((width, Order::Big, Domain::Names(values)))
    }

    /// Reads the words of a field, and how many bits they have together.
    fn words(
        &self,
        groups: &[ast::WordGroup],
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Vec<Word>)> {
        let mut names = groups.iter().flat_map(|group| group.alternatives.iter().flatten());
        if let Some((name, _)) = names.nth(limits::WORDS) {
            let message = format!("a field has at most {} words", limits::WORDS);
            let help = "use fewer words, or two fields";
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, name.span, message).help(help));
            return None;
        }
        let mut words: Vec<Word> = Vec::new();
        let mut all = 0;
        for (group, entry) in groups.iter().enumerate() {
            let first = words.len();
            for (alternative, list) in entry.alternatives.iter().enumerate() {
                for (name, value) in list {
                    let bits = match value {
                        Some(value) => constant_in(Width::MAX, value, &self.names, diagnostics)?,
                        None => 1 << (u64::BITS - u64::leading_zeros(all)),
                    };
                    if bits >> limits::WORD_BITS != 0 {
                        let message = format!("the words of a field have at most {} bits", limits::WORD_BITS);
                        let help = "use fewer words, or two fields";
                        diagnostics.push(Diagnostic::new(codes::TOO_MANY, name.span, message).help(help));
                        return None;
                    }
                    if words.iter().any(|word: &Word| word.name.eq_ignore_ascii_case(&name.text)) {
                        let message = format!("`{}` is in this list twice", name.text);
                        let help = "name each word once; case does not matter in assembly";
                        diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, name.span, message).help(help));
                        return None;
                    }
                    all |= bits;
                    words.push(Word { name: name.text.clone(), bits, mask: bits, group, alternative });
                }
            }
            if entry.alternatives.len() > 1 {
                set_masks(&mut words[first..]);
            }
            check_group(&words, first, entry, diagnostics)?;
        }
        let width = Width::to_tell_apart(all as usize + 1);
        if (0..=all).filter(|bits| words::written(&words, *bits).is_some()).nth(limits::LIST).is_some() {
            let message = format!("these words can be put together in more than {} ways", limits::LIST);
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, span, message).help("use fewer words, or two fields"));
            return None;
        }
        Some((width, words))
    }

    pub(crate) fn number_field(
        &self,
        number: &ast::Number,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let width = width(&number.ty, &self.names, diagnostics)?;
        if let Some(list) = &number.values {
            return self.listed_values(list, number, width, diagnostics);
        }
        let unstored = match &number.align {
            Some(align) => self.unstored(align, width, diagnostics)?,
            None => 0,
        };
        let target = match &number.address {
            Some(kind) => Some(self.target(kind, width, number, diagnostics)?),
            None => None,
        };
        if number.ty.signed && matches!(target, Some(Target::Within(_))) {
            let message = "the low bits of an address have no sign";
            let help = format!("write `{width} within …`");
            diagnostics.push(Diagnostic::new(codes::MIXED_SIGNS, number.span, message).help(help));
            return None;
        }
        let wraps = self.wraps(width);
        let numeric = Numeric { signed: number.ty.signed, wraps, unstored, target, low: number.low };
        Some((width, number.order.unwrap_or(Order::Big), Domain::Number(numeric)))
    }

    /// Whether numbers of this width fill a register or a cell; see [`Numeric::wraps`].
    fn wraps(&self, width: Width) -> bool {
        let registers = self.registers.iter().map(|register| register.width);
        registers.chain(self.memories.iter().map(|memory| memory.cell)).any(|known| known == width)
    }

    /// Elaborates a list of values: `u4 in { 8, 1..7 }`.
    fn listed_values(
        &self,
        list: &[ast::ListedValue],
        number: &ast::Number,
        width: Width,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Width, Order, Domain)> {
        let signed = number.ty.signed;
        let mut values = Values { list: Vec::new(), width, signed, wraps: self.wraps(width) };
        for entry in list {
            let Some((first, last)) = entry else {
                values.list.push(None);
                continue;
            };
            let mut bound = |expr| {
                let bits = constant_in(width, expr, &self.names, diagnostics)?;
                Some(if signed { i128::from(width.signed(bits)) } else { i128::from(bits) })
            };
            let (low, high) = (bound(first)?, bound(last.as_ref().unwrap_or(first))?);
            if (high - low).unsigned_abs() >= limits::LIST as u128 {
                return too_long("values", number.span, diagnostics);
            }
            for step in 0..=(high - low).abs() {
                let value = low + step * (high - low).signum();
                if let Some(code) = values.code(value) {
                    let message =
                        format!("{value} is in this list twice, as the codes {code} and {}", values.list.len());
                    let help = "write each value once, and `_` for a code without a value";
                    let span = last.as_ref().map_or(first.span, |last| first.span.to(last.span));
                    diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, span, message).help(help));
                    return None;
                }
                values.list.push(Some(width.wrap(value as u64)));
            }
            if values.list.len() > limits::LIST {
                return too_long("values", number.span, diagnostics);
            }
        }
        if values.numbers().next().is_none() || values.list.len() > limits::LIST {
            let message = "a list of values without values";
            let help = "name at least one, as in `u4 in { 8, 1..7 }`";
            diagnostics.push(Diagnostic::new(codes::MISSING_ITEM, number.span, message).help(help));
            return None;
        }
        Some((Width::to_tell_apart(values.list.len()), number.order.unwrap_or(Order::Big), Domain::Values(values)))
    }

    /// Returns the names of some values of a number.
    pub(crate) fn number_names(
        &self,
        number: &ast::Number,
        width: Width,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<(String, u64)>> {
        let value = |(name, value): &(Name, ast::Expr)| {
            let value = constant_in(width, value, &self.names, diagnostics);
            value.map(|value| (name.text.clone(), value))
        };
        number.names.iter().map(value).collect()
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
        let target = match kind {
            AddressKind::Absolute(Some(memory)) => Target::Absolute(self.memory_of(memory, diagnostics)?),
            AddressKind::Absolute(None) => Target::Absolute(self.pc.as_ref()?.memory),
            AddressKind::Relative { back, from, number_is_address } => {
                // `here` is resolved where the field is used.
                let from = if *from == Origin::Next { Base::Next } else { Base::Pc };
                Target::Relative { back: *back, from, number_is_address: *number_is_address }
            }
            AddressKind::Within(Page::Pc) => Target::Within(Base::Pc),
            AddressKind::Within(Page::Next) => Target::Within(Base::Next),
            AddressKind::Within(Page::Address(address)) => {
                let address = constant_in(self.pc_width(), address, &self.names, diagnostics)?;
                Target::Within(Base::Address(address))
            }
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

fn too_long<T>(what: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<T> {
    let message = format!("a list has at most {} {what}", limits::LIST);
    diagnostics.push(Diagnostic::new(codes::TOO_MANY, span, message).help("make it shorter"));
    None
}

/// Sets the mask of each word of a group: a word is absent if a bit is set that only other words have.
fn set_masks(group: &mut [Word]) {
    let bits_of = |words: &[Word], alternative: Option<usize>| {
        let of = words.iter().filter(|word| alternative.is_none_or(|one| one == word.alternative));
        of.fold(0, |bits, word| bits | word.bits)
    };
    let all = bits_of(group, None);
    let own: Vec<u64> = group.iter().map(|word| bits_of(group, Some(word.alternative))).collect();
    for (word, own) in group.iter_mut().zip(own) {
        word.mask |= all & !own;
    }
}

/// Checks that words which exclude each other, from `first` on, can be told apart and share no bits with other words.
fn check_group(words: &[Word], first: usize, entry: &ast::WordGroup, diagnostics: &mut Diagnostics) -> Option<()> {
    let (others, group) = words.split_at(first);
    let shared = |word: &Word, other: &Word| word.bits & other.bits != 0;
    let is_choice = |word: &Word| words.iter().any(|other| other.group == word.group && other.alternative > 0);
    for word in group {
        if let Some(other) = others.iter().find(|other| shared(word, other) && (is_choice(word) || is_choice(other))) {
            let message = format!("`{}` and `{}` share a bit, but do not exclude each other", other.name, word.name);
            let help = "words in parentheses have bits of their own";
            diagnostics.push(Diagnostic::new(codes::OVERLAP, entry.span, message).help(help));
            return None;
        }
    }
    for alternative in 0..entry.alternatives.len() {
        let (own, excluded): (Vec<&Word>, Vec<&Word>) = group.iter().partition(|word| word.alternative == alternative);
        let mut sums = BTreeSet::from([0]);
        for word in &own {
            sums.extend(sums.clone().into_iter().map(|sum: u64| sum | word.bits));
        }
        let clash = sums.iter().filter(|sum| **sum != 0).find_map(|sum| excluded.iter().find(|word| word.is_in(*sum)));
        if let Some(word) = clash {
            let message = format!("the bits of `{}` are also those of words that it excludes", word.name);
            let help = "words that exclude each other must differ in a bit";
            diagnostics.push(Diagnostic::new(codes::OVERLAP, entry.span, message).help(help));
            return None;
        }
    }
    Some(())
}

fn counts_from_here(fields: &ast::Fields) -> bool {
    let FieldKind::Number(number) = &fields.kind else { return false };
    matches!(number.address, Some(AddressKind::Relative { from: Origin::Here, .. }))
}
