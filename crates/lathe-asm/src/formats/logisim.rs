//! Memory images of Logisim (`v2.0 raw`) and Logisim-evolution (`v3.0 hex words`), after the
//! former's guide, "Memory components: pop-up menus and files", and the latter's description
//! in its source `HexFile.java`.
//!
//! Version 2 has no addresses and begins at 0; version 3 is written with addresses. Version 3's `bytes` files, a stream
//! of bits cut into words, are refused: `words` says the same plainly.

use std::fmt::Write;

use lathe_isa::model::{Isa, Memory, MemoryId};

use super::rom::{Rom, too_wide};
use super::runs::Collector;
use super::text::{hexadecimal, lines, shown};
use super::{BEYOND, FormatError};
use crate::{Image, Segment};

/// Cells in a row of version 3.
const ROW: u128 = 16;
/// All addresses of version 3 are below this.
const END: u128 = 1 << 32;

/// Writes `v2.0 raw`, with four or more equal cells as `count*value`, like Logisim.
pub(super) fn write_version_2(rom: &Rom) -> Result<Vec<u8>, FormatError> {
    let digits = rom.digits();
    let mut out = String::from("v2.0 raw\n");
    let cells = rom.flat()?;
    for (at, group) in groups(&cells).enumerate() {
        let end = if at % 8 == 7 { '\n' } else { ' ' };
        let _ = match group {
            [cell] => write!(out, "{cell:0digits$x}{end}"),
            several => write!(out, "{}*{:0digits$x}{end}", several.len(), several[0]),
        };
    }
    let mut out = out.trim_end().to_owned();
    out.push('\n');
    Ok(out.into_bytes())
}

/// Groups four or more equal cells; other cells stay by themselves.
fn groups(cells: &[u64]) -> impl Iterator<Item = &[u64]> {
    cells.chunk_by(|a, b| a == b).flat_map(|equal| equal.chunks(if equal.len() < 4 { 1 } else { equal.len() }))
}

/// Writes `v3.0 hex words addressed`.
pub(super) fn write_version_3(rom: &Rom) -> Result<Vec<u8>, FormatError> {
    if rom.end() > END {
        let cause = format!("address {:#x} is beyond the 32 bits that Logisim reads", rom.end() - 1);
        return Err(FormatError::new(cause, BEYOND));
    }
    let (digits, address_digits) = (rom.digits(), rom.address_digits());
    let mut out = String::from("v3.0 hex words addressed\n");
    for run in &rom.runs {
        let mut at = 0;
        while at < run.items.len() {
            let address = run.start + at as u128;
            let length = ((ROW - address % ROW) as usize).min(run.items.len() - at);
            let _ = write!(out, "{address:0address_digits$x}:");
            for cell in &run.items[at..at + length] {
                let _ = write!(out, " {cell:0digits$x}");
            }
            out.push('\n');
            at += length;
        }
    }
    Ok(out.into_bytes())
}

/// Reads either version; the first line tells which.
pub(super) fn read(bytes: &[u8], isa: &Isa, id: MemoryId) -> Result<Image, FormatError> {
    let mut lines = lines(bytes).map(|(at, line)| (at, without_comment(line)));
    let header = lines.next().map_or(&[][..], |(_, line)| line);
    let style = style(header, bytes).map_err(|error| error.at_line(1))?;
    let memory = isa.memory(id);
    let mut cells = Collector::of_cells(memory);
    let mut address = 0;
    for (at, line) in lines {
        let data = match style {
            Style::Plain => Ok(line),
            Style::Addressed => addressed(line, &mut address),
        };
        let taken = data.and_then(|data| take(data, memory, &mut cells, &mut address));
        taken.map_err(|error| error.at_line(at))?;
    }
    let segments =
        cells.finish().into_iter().map(|run| Segment { memory: id, start: run.start as u64, cells: run.items });
    Ok(Image { segments: segments.collect(), ..Image::default() })
}

enum Style {
    Plain,
    Addressed,
}

fn style(header: &[u8], bytes: &[u8]) -> Result<Style, FormatError> {
    let words: Vec<&[u8]> = words(header).collect();
    match words.as_slice() {
        [b"v2.0", b"raw"] | [b"v3.0", b"hex", b"words", b"plain"] => Ok(Style::Plain),
        [b"v3.0", b"hex", b"words", b"addressed"] => Ok(Style::Addressed),
        [b"v3.0", b"hex", b"words"] if bytes.contains(&b':') => Ok(Style::Addressed),
        [b"v3.0", b"hex", b"words"] => Ok(Style::Plain),
        [b"v3.0", b"hex", b"bytes", ..] => Err(FormatError::new(
            "a file of `bytes` does not tell where a cell begins",
            "save it from Logisim as `v3.0 hex words addressed`",
        )),
        _ => Err(FormatError::new(
            format!("a Logisim file does not begin with `{}`", shown(header)),
            "begin it with `v2.0 raw`, `v3.0 hex words plain` or `v3.0 hex words addressed`",
        )),
    }
}

fn without_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
    line[..end].trim_ascii()
}

/// Takes the address from the front of a line. Text after two blanks is a remark.
fn addressed<'a>(line: &'a [u8], address: &mut u128) -> Result<&'a [u8], FormatError> {
    let ends = |byte: &u8| *byte == b':' || byte.is_ascii_whitespace();
    let Some(length) = line.iter().position(ends) else {
        return if line.is_empty() { Ok(line) } else { hexadecimal(line).map(|_| &line[..0]) };
    };
    *address = hexadecimal(&line[..length])?.into();
    let rest = line[length..].trim_ascii_start();
    let data = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start();
    let two_blanks = |pair: &[u8]| pair.iter().all(u8::is_ascii_whitespace);
    Ok(&data[..data.windows(2).position(two_blanks).unwrap_or(data.len())])
}

/// Takes cells, or `count*cell`, and puts them at `address` and after.
fn take(data: &[u8], memory: &Memory, cells: &mut Collector<u64>, address: &mut u128) -> Result<(), FormatError> {
    for word in words(data) {
        let (count, value) = match word.iter().position(|byte| *byte == b'*') {
            Some(at) => (times(&word[..at])?, hexadecimal(&word[at + 1..])?),
            None => (1, hexadecimal(word)?),
        };
        if !memory.cell.holds(value) {
            return Err(too_wide(value, memory.cell));
        }
        cells.put_times(*address, value, count)?;
        *address += u128::from(count);
    }
    Ok(())
}

fn times(word: &[u8]) -> Result<u64, FormatError> {
    let count = std::str::from_utf8(word).ok().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    count.and_then(|word| word.parse().ok()).ok_or_else(|| {
        let cause = format!("`{}` is not a decimal repeat count", shown(word));
        FormatError::new(cause, "write repeated cells as `count*value`, such as `16*00`")
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}
