//! Verilog's `$readmemh` and `$readmemb`, after IEEE 1364, clause "Loading memory array data
//! from a file".
//!
//! One cell a line and no comments, because Vivado's synthesis accepts nothing else; `@address` (in cells) only where a
//! run does not continue the last one. Unknown digits (`x`, `z`) are refused on reading: a machine's memory has none.

use std::fmt::Write;

use lathe_isa::model::{Isa, Memory, MemoryId};

use super::FormatError;
use super::rom::{Rom, too_wide};
use super::runs::Collector;
use super::text::{bad_digit, digit, shown, too_long, without_mark};
use crate::{Image, Segment};

/// The base of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    /// `$readmemb`.
    Binary,
    /// `$readmemh`.
    Hexadecimal,
}

/// Writes the cells.
pub(super) fn write(rom: &Rom, radix: Radix) -> Vec<u8> {
    let mut out = String::new();
    let mut expected = 0;
    for run in &rom.runs {
        if run.start != expected {
            let _ = writeln!(out, "@{:0digits$x}", run.start, digits = rom.address_digits());
        }
        expected = run.end();
        for cell in &run.items {
            let _ = match radix {
                Radix::Hexadecimal => writeln!(out, "{cell:0digits$x}", digits = rom.digits()),
                Radix::Binary => writeln!(out, "{cell:0digits$b}", digits = rom.width.bits() as usize),
            };
        }
    }
    out.into_bytes()
}

/// Reads cells.
pub(super) fn read(bytes: &[u8], radix: Radix, isa: &Isa, id: MemoryId) -> Result<Image, FormatError> {
    let memory = isa.memory(id);
    let mut cells = Collector::of_cells(memory);
    let mut address: u128 = 0;
    let mut words = Words { rest: without_mark(bytes), line: 1 };
    while let Some((line, word)) = words.next()? {
        let step = match word.strip_prefix(b"@") {
            Some(digits) => number(digits, Radix::Hexadecimal).map(|value| address = value.into()),
            None => cell(word, radix, memory).and_then(|cell| cells.put(address, &[cell])).map(|()| address += 1),
        };
        step.map_err(|error| error.at_line(line))?;
    }
    let segments =
        cells.finish().into_iter().map(|run| Segment { memory: id, start: run.start as u64, cells: run.items });
    Ok(Image { segments: segments.collect(), ..Image::default() })
}

fn cell(word: &[u8], radix: Radix, memory: &Memory) -> Result<u64, FormatError> {
    let value = number(word, radix)?;
    if memory.cell.holds(value) { Ok(value) } else { Err(too_wide(value, memory.cell)) }
}

/// Reads a number, which may contain underscores.
fn number(word: &[u8], radix: Radix) -> Result<u64, FormatError> {
    let (base, name) = if radix == Radix::Binary { (2, "binary") } else { (16, "hexadecimal") };
    let mut value: u64 = 0;
    let mut any = false;
    for byte in word.iter().filter(|byte| **byte != b'_') {
        let digit = digit(*byte, base).ok_or_else(|| no_digit(*byte, name))?;
        value = value.checked_mul(u64::from(base)).ok_or_else(|| too_long(word))? | digit;
        any = true;
    }
    if any { Ok(value) } else { Err(FormatError::new(format!("`{}` has no digits", shown(word)), "write a number")) }
}

fn no_digit(byte: u8, base: &str) -> FormatError {
    match byte {
        b'x' | b'X' | b'z' | b'Z' | b'?' => {
            let cause = format!("the digit `{}` stands for unknown bits, and a memory has none", shown(&[byte]));
            FormatError::new(cause, "put a number there, or leave the cells out with `@address`")
        }
        _ => bad_digit(byte, base),
    }
}

/// Words separated by white space and comments.
struct Words<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    /// Returns the next word and its line.
    fn next(&mut self) -> Result<Option<(usize, &'a [u8])>, FormatError> {
        self.skip_blank()?;
        let ends = |byte: &u8| is_blank(*byte) || *byte == b'/';
        let length = match self.rest {
            [] => return Ok(None),
            [b'/', ..] => {
                return Err(FormatError::new("a single `/` is not a comment", "write `//` or `/*`").at_line(self.line));
            }
            rest => rest.iter().position(ends).unwrap_or(rest.len()),
        };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Some((self.line, word)))
    }

    fn skip_blank(&mut self) -> Result<(), FormatError> {
        loop {
            let length = match self.rest {
                [byte, ..] if is_blank(*byte) => 1,
                [b'/', b'/', rest @ ..] => 2 + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', rest @ ..] => match rest.windows(2).position(|pair| pair == b"*/") {
                    Some(at) => at + 4,
                    None => {
                        let error = FormatError::new("the comment has no end", "close it with `*/`");
                        return Err(error.at_line(self.line));
                    }
                },
                _ => return Ok(()),
            };
            self.line += self.rest[..length].iter().filter(|byte| **byte == b'\n').count();
            self.rest = &self.rest[length..];
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}
