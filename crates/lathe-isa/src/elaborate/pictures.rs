//! Pictures: the encoding column. `0` and `1` are themselves, `-` is ignored, a capital letter is the next bit of that
//! field from its most significant down, `0x41` is four bits a digit, `{W}` a whole field in its own byte order,
//! `{B[10:5]}` some of its bits.

use std::collections::BTreeMap;

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::plural;
use crate::codes;
use crate::encoding::{Cube, Segment};
use crate::language::ast::{Column, Name, Order};
use crate::model::FieldId;
use crate::names::Named;

/// Something that takes bits of a picture: a field, the code of a family, or an operand with modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Taker {
    Field(FieldId),
    Family(usize),
    Operand(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    Fixed(bool),
    Ignored,
    /// A bit of a taker; it gets its number once all letters have been seen.
    Taken(Taker, Option<u32>),
    /// No bit: where the cells that an operand with modes adds go.
    Rest(usize),
}

/// A picture, read and checked: every bit of every taker is in it exactly once, except for fields that a condition
/// determines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    pub(crate) cells: u32,
    pub(crate) fixed: Cube,
    pub(crate) ignored: u128,
    pub(crate) taken: BTreeMap<Taker, Vec<Segment>>,
    /// The fields without bits, and their constant values.
    pub(crate) constants: BTreeMap<FieldId, u64>,
}

/// The unit that a picture shows: this many bits, in this order of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) width: Width,
    pub(crate) order: Order,
}

pub(crate) fn read(
    declarations: &Declarations,
    column: &Column,
    unit: Unit,
    diagnostics: &mut Diagnostics,
) -> Option<Picture> {
    let bits = read_bits(declarations, column, unit, diagnostics)?;
    lay_out(declarations.code_cell(), &bits, column.span, unit, diagnostics)
}

/// Reads the bits of a picture, one by one, as written.
pub(crate) fn read_bits(
    declarations: &Declarations,
    column: &Column,
    unit: Unit,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Bit>> {
    let mut reader = Reader { declarations, column, unit, bits: Vec::new(), diagnostics };
    reader.bits()?;
    reader.number_letters()?;
    reader.check_each_once()?;
    Some(reader.bits)
}

struct Reader<'r, 'a> {
    declarations: &'r Declarations<'a>,
    column: &'r Column,
    unit: Unit,
    bits: Vec<Bit>,
    diagnostics: &'r mut Diagnostics,
}

impl Reader<'_, '_> {
    fn span(&self, start: usize, end: usize) -> Span {
        let base = self.column.span.start as usize;
        Span::new(self.column.span.file, base + start, base + end)
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    fn bits(&mut self) -> Option<()> {
        let text = self.column.text.as_str();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next().filter(|_| self.bits.len() <= limits::INSTRUCTION_BITS) {
            let rest = &text[at..];
            if let Some(after) = rest.strip_prefix("0x") {
                let length = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
                self.hexadecimal(&after[..length], at, at + 2 + length)?;
                at += 2 + length;
                continue;
            }
            if c == '{' {
                let end = rest.find('}').map(|end| at + end + 1);
                let Some(end) = end else {
                    let diagnostic =
                        Diagnostic::new(codes::BAD_PICTURE, self.span(at, at + 1), "this `{` is not closed");
                    return self
                        .fail(diagnostic.help("as in `{W}` for a whole field, `{B[10:5]}` for some of its bits"));
                };
                self.braced(&text[at + 1..end - 1], at + 1)?;
                at = end;
                continue;
            }
            self.single(c, at)?;
            at += c.len_utf8();
        }
        if self.bits.is_empty() {
            let diagnostic = Diagnostic::new(codes::BAD_PICTURE, self.column.span, "this encoding has no bits");
            return self.fail(diagnostic.help("write its bits, as in `0000 DDSS`"));
        }
        if self.bits.len() > limits::INSTRUCTION_BITS {
            let message = format!("an instruction has at most {} bits", limits::INSTRUCTION_BITS);
            let diagnostic = Diagnostic::new(codes::TOO_LARGE, self.column.span, message);
            return self.fail(diagnostic.help("this one has more; make it shorter"));
        }
        Some(())
    }

    fn hexadecimal(&mut self, digits: &str, start: usize, end: usize) -> Option<()> {
        if digits.is_empty() {
            let diagnostic = Diagnostic::new(codes::BAD_PICTURE, self.span(start, end), "no digits after `0x`");
            return self.fail(diagnostic.help("as in `0x41`, four bits a digit"));
        }
        for digit in digits.chars().filter_map(|c| c.to_digit(16)) {
            self.bits.extend((0..4).rev().map(|bit| Bit::Fixed(digit >> bit & 1 == 1)));
        }
        Some(())
    }

    fn single(&mut self, c: char, at: usize) -> Option<()> {
        let bit = match c {
            ' ' | '\t' | '_' => return Some(()),
            '0' => Bit::Fixed(false),
            '1' => Bit::Fixed(true),
            '-' => Bit::Ignored,
            'A'..='Z' if let Some(long) = self.long_name(at) => return self.fail(long),
            'A'..='Z' => Bit::Taken(self.taker(&c.to_string(), self.span(at, at + 1))?, None),
            _ if self.declarations.names.is_broken(&c.to_string()) => return None,
            _ => return self.fail(self.stranger(c, at)),
        };
        self.bits.push(bit);
        Some(())
    }

    /// Makes the diagnostic for a name of several letters without braces whose first letter is no name.
    fn long_name(&self, at: usize) -> Option<Diagnostic> {
        let names = &self.declarations.names;
        let is_taker =
            |name: &str| matches!(names.peek(name), Some(Named::Field(_) | Named::Family(_) | Named::Operand(_)));
        let rest = &self.column.text[at..];
        let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
        if is_taker(&word[..1]) {
            return None;
        }
        let name = (2..=word.len()).rev().map(|length| &word[..length]).find(|name| is_taker(name))?;
        let times = word.as_bytes().chunks(name.len()).take_while(|part| *part == name.as_bytes()).count();
        let span = self.span(at, at + times * name.len());
        let message = format!("`{name}` has several letters, and each letter here would be a field of its own");
        let fixed = format!("{{{name}}}");
        Some(Diagnostic::new(codes::BAD_PICTURE, span, message).help(format!("write `{fixed}`")).fix(span, fixed))
    }

    fn stranger(&self, c: char, at: usize) -> Diagnostic {
        let span = self.span(at, at + c.len_utf8());
        let capital = c.to_uppercase().to_string();
        let diagnostic = Diagnostic::new(codes::BAD_PICTURE, span, format!("`{c}` does not belong in an encoding"));
        if let Some(Named::Field(_) | Named::Family(_)) = self.declarations.names.peek(&capital) {
            let help = format!("the field is called `{capital}`, with a capital");
            // All letters of the run are wrong in the same way; one fix corrects them all.
            let length =
                self.column.text[at..].chars().take_while(|other| *other == c).map(char::len_utf8).sum::<usize>();
            let run = self.span(at, at + length);
            return diagnostic.help(help).safe_fix(run, capital.repeat(length / c.len_utf8()));
        }
        let help = "an encoding is made of 0, 1, `-` for an ignored bit, capital letters for the bits of a field, \
                    `0x41`, and `{W}` for a whole field";
        diagnostic.help(help)
    }

    fn taker(&mut self, name: &str, span: Span) -> Option<Taker> {
        match self.declarations.names.find(name, span) {
            Some(Named::Field(id)) => Some(Taker::Field(id)),
            Some(Named::Family(at)) => Some(Taker::Family(at)),
            Some(Named::Operand(at)) => Some(Taker::Operand(at)),
            _ => {
                let name = Name { text: name.to_owned(), span };
                let declare = format!("declare it with a line such as `field {} : u4`", name.text);
                let is_field = |named| matches!(named, Named::Field(_) | Named::Family(_) | Named::Operand(_));
                self.declarations.names.report_wrong(&name, "field", is_field, declare, self.diagnostics);
                None
            }
        }
    }

    /// Reads `W`, or `B[10:5]`, or `B[11]`, or `E...`.
    fn braced(&mut self, inside: &str, at: usize) -> Option<()> {
        let span = self.span(at, at + inside.len());
        if let Some(name) = inside.trim_end().strip_suffix("...") {
            let Taker::Operand(kind) = self.taker(name.trim(), span)? else {
                let message = format!("`{}` adds no cells, because it has no modes", name.trim());
                let help = "`{E...}` is for an operand that is declared with `operand E : …`";
                return self.fail(Diagnostic::new(codes::BAD_PICTURE, span, message).help(help));
            };
            self.bits.push(Bit::Rest(kind));
            return Some(());
        }
        let (name, slice) = match inside.split_once('[') {
            Some((name, slice)) => (name.trim(), Some(slice.trim_end().strip_suffix(']').unwrap_or(slice))),
            None => (inside.trim(), None),
        };
        let taker = self.taker(name, span)?;
        let Some(slice) = slice else { return self.whole(taker, span) };
        let (high, low) = slice.split_once(':').unwrap_or((slice, slice));
        let (Ok(high), Ok(low)) = (high.trim().parse::<u32>(), low.trim().parse::<u32>()) else {
            let diagnostic = Diagnostic::new(codes::BAD_PICTURE, span, "these bits cannot be read");
            return self.fail(diagnostic.help("as in `{B[10:5]}` or `{B[11]}`"));
        };
        let width = self.width_of(taker);
        let (low, width) =
            super::declarations::slice_of(width, u64::from(high), u64::from(low), span, self.diagnostics)?;
        self.bits.extend((low..low + width.bits()).rev().map(|bit| Bit::Taken(taker, Some(bit))));
        Some(())
    }

    fn whole(&mut self, taker: Taker, span: Span) -> Option<()> {
        let (low, high) = (self.unstored_of(taker), self.width_of(taker).bits());
        let numbers: Vec<u32> = (low..high).rev().collect();
        let little = matches!(taker, Taker::Field(id) if self.declarations.fields[id.index()].order == Order::Little);
        if !little {
            self.bits.extend(numbers.into_iter().map(|bit| Bit::Taken(taker, Some(bit))));
            return Some(());
        }
        // In a little-endian unit, the field's cells are ordered along with those of the unit.
        let cell = match self.unit.order {
            Order::Little => self.unit.width.bits() as usize,
            Order::Big => self.declarations.code_cell().bits() as usize,
        };
        if self.unit.order == Order::Little && numbers.len() <= cell {
            self.bits.extend(numbers.into_iter().map(|bit| Bit::Taken(taker, Some(bit))));
            return Some(());
        }
        if !numbers.len().is_multiple_of(cell) {
            let message =
                format!("a `little` field of {} bits does not fill whole cells or words of {cell} bits", numbers.len());
            let diagnostic = Diagnostic::new(codes::BAD_PICTURE, span, message);
            return self.fail(diagnostic.help("remove `little`, or write its bits in pieces, as in `{W[7:0]}`"));
        }
        let low_first = numbers.chunks(cell).rev().flatten();
        self.bits.extend(low_first.map(|bit| Bit::Taken(taker, Some(*bit))));
        Some(())
    }

    fn width_of(&self, taker: Taker) -> Width {
        match taker {
            Taker::Field(id) => self.declarations.fields[id.index()].width,
            Taker::Family(at) => self.declarations.families[at].width,
            Taker::Operand(at) => self.declarations.operands[at].width,
        }
    }

    fn unstored_of(&self, taker: Taker) -> u32 {
        match taker {
            Taker::Field(id) => self.declarations.fields[id.index()].unstored_bits(),
            Taker::Family(_) | Taker::Operand(_) => 0,
        }
    }

    fn name_of(&self, taker: Taker) -> &str {
        match taker {
            Taker::Field(id) => &self.declarations.fields[id.index()].name,
            Taker::Family(at) => &self.declarations.families[at].tree.name.text,
            Taker::Operand(at) => &self.declarations.operands[at].name.text,
        }
    }

    fn takers(&self) -> Vec<Taker> {
        let mut takers: Vec<Taker> = self
            .bits
            .iter()
            .filter_map(|bit| if let Bit::Taken(taker, _) = bit { Some(*taker) } else { None })
            .collect();
        takers.sort_unstable();
        takers.dedup();
        takers
    }

    /// Numbers letters from the most significant bit down.
    fn number_letters(&mut self) -> Option<()> {
        for taker in self.takers() {
            let letters = self.bits.iter().filter(|bit| **bit == Bit::Taken(taker, None)).count() as u32;
            if letters == 0 {
                continue;
            }
            let (low, high) = (self.unstored_of(taker), self.width_of(taker).bits());
            let stored = high - low;
            if letters != stored {
                let name = self.name_of(taker).to_owned();
                let code = if letters < stored { codes::BITS_MISSING } else { codes::BITS_REPEATED };
                let bits = plural(stored, "bit");
                let message = format!("`{name}` has {stored} {bits}, but the encoding has {letters} of them");
                let resize = format!("or declare `{name}` with {letters} {}", plural(letters, "bit"));
                let help = if letters < stored {
                    format!("write {} more `{name}`, {resize}", stored - letters)
                } else {
                    format!("write {} fewer `{name}`, {resize}", letters - stored)
                };
                return self.fail(Diagnostic::new(code, self.column.span, message).help(help));
            }
            let mut number = high;
            for bit in self.bits.iter_mut().filter(|bit| **bit == Bit::Taken(taker, None)) {
                number -= 1;
                *bit = Bit::Taken(taker, Some(number));
            }
        }
        Some(())
    }

    fn check_each_once(&mut self) -> Option<()> {
        for taker in self.takers() {
            for number in self.unstored_of(taker)..self.width_of(taker).bits() {
                let count = self.bits.iter().filter(|bit| **bit == Bit::Taken(taker, Some(number))).count();
                if count == 1 {
                    continue;
                }
                let name = self.name_of(taker).to_owned();
                let (code, what) = if count == 0 {
                    (codes::BITS_MISSING, "missing")
                } else {
                    (codes::BITS_REPEATED, "given more than once")
                };
                let message = format!("bit {number} of `{name}` is {what}");
                let help = format!("every bit of a field must be in the encoding once; `{{{name}}}` is all of them");
                return self.fail(Diagnostic::new(code, self.column.span, message).help(help));
            }
        }
        Some(())
    }
}

/// Makes the picture of these bits.
pub(crate) fn lay_out(
    cell: Width,
    bits: &[Bit],
    span: Span,
    unit: Unit,
    diagnostics: &mut Diagnostics,
) -> Option<Picture> {
    let mut bits: Vec<Bit> = bits.iter().copied().filter(|bit| !matches!(bit, Bit::Rest(_))).collect();
    let (count, unit_bits) = (bits.len(), unit.width.bits() as usize);
    if !count.is_multiple_of(unit_bits) {
        let message = format!("this encoding has {count} bits, which is not a multiple of {unit_bits}");
        let short = unit_bits - count % unit_bits;
        let help = format!(
            "add {short} or remove {}; unused bits are written `0`, or `-` if they may be anything",
            count % unit_bits
        );
        diagnostics.push(Diagnostic::new(codes::RAGGED_LENGTH, span, message).help(help));
        return None;
    }
    if count > limits::INSTRUCTION_BITS {
        let message = format!("an instruction has at most {} bits", limits::INSTRUCTION_BITS);
        let help = "with the cells that its operands add, this one has more; make it shorter";
        diagnostics.push(Diagnostic::new(codes::TOO_LARGE, span, message).help(help));
        return None;
    }
    if unit.order == Order::Little {
        let cell = cell.bits() as usize;
        bits = bits.chunks(unit_bits).flat_map(|unit| unit.chunks(cell).rev().flatten().copied()).collect();
    }
    let mut picture = Picture { cells: count as u32 / cell.bits(), ..Picture::default() };
    for (at, bit) in bits.iter().enumerate() {
        let shift = 127 - at as u32;
        match bit {
            Bit::Fixed(set) => {
                picture.fixed.mask |= 1 << shift;
                picture.fixed.value |= u128::from(*set) << shift;
            }
            Bit::Ignored => picture.ignored |= 1 << shift,
            Bit::Taken(taker, number) => {
                add_bit(picture.taken.entry(*taker).or_default(), shift, number.unwrap_or(0));
            }
            Bit::Rest(_) => {}
        }
    }
    Some(picture)
}

/// Adds a bit to the segments, extending the last one if the bit continues it.
fn add_bit(segments: &mut Vec<Segment>, shift: u32, number: u32) {
    if let Some(last) = segments.last_mut()
        && let (true, Some(width)) = (last.shift == shift + 1 && last.low == number + 1, last.width.plus(Width::BIT))
    {
        *last = Segment { shift, width, low: number };
        return;
    }
    segments.push(Segment { shift, width: Width::BIT, low: number });
}
