//! Motorola S-records, after the manual page `srec(5)` of Unix and Motorola's M68000 Family
//! Programmer's Reference Manual, appendix C.
//!
//! Written: a header (S0) with the machine's name, data with the shortest sufficient address (S1, S2, S3), the record
//! count (S5, or S6 if it is large), and the entry (S9, S8, S7; 0 if there is none). An entry of 0 is read as none.
//! Addresses count bytes, see `bytes`.

use lathe_isa::model::{Isa, MemoryId};

use super::bytes::{byte_address, byte_runs, image_of_bytes};
use super::records::{DATA, after_the_end, cut_short, number, pairs, push_pairs, sum, wrong_checksum};
use super::rom::Rom;
use super::runs::Collector;
use super::text::{lines, shown};
use super::{BEYOND, FormatError};
use crate::Image;

/// Writes the cells as S-records.
pub(super) fn write(rom: &Rom, machine: &str) -> Result<Vec<u8>, FormatError> {
    let entry = byte_address(rom, rom.entry.unwrap_or(0));
    let kinds = Kinds::that_reach(byte_address(rom, rom.end()).saturating_sub(1).max(entry))?;
    let mut out = Vec::new();
    let name = machine.as_bytes();
    push_record(&mut out, b'0', 2, 0, &name[..name.len().min(DATA)]);
    let mut count: u64 = 0;
    for run in byte_runs(rom) {
        for (address, chunk) in (run.start..).step_by(DATA).zip(run.items.chunks(DATA)) {
            push_record(&mut out, kinds.data, kinds.address_bytes, address as u64, chunk);
            count += 1;
        }
    }
    match count {
        0..=0xFFFF => push_record(&mut out, b'5', 2, count, &[]),
        0x1_0000..=0xFF_FFFF => push_record(&mut out, b'6', 3, count, &[]),
        _ => {}
    }
    push_record(&mut out, kinds.end, kinds.address_bytes, entry as u64, &[]);
    Ok(out)
}

/// The record types for one width of address.
struct Kinds {
    data: u8,
    address_bytes: usize,
    end: u8,
}

impl Kinds {
    /// Returns the types with the shortest address that reaches `last`.
    fn that_reach(last: u128) -> Result<Kinds, FormatError> {
        let kinds = |data, address_bytes, end| Ok(Kinds { data, address_bytes, end });
        match last {
            0..=0xFFFF => kinds(b'1', 2, b'9'),
            0x1_0000..=0xFF_FFFF => kinds(b'2', 3, b'8'),
            0x100_0000..=0xFFFF_FFFF => kinds(b'3', 4, b'7'),
            _ => {
                let cause = format!("byte address {last:#x} is beyond the 32 bits of S-records");
                Err(FormatError::new(cause, BEYOND))
            }
        }
    }
}

fn push_record(out: &mut Vec<u8>, kind: u8, address_bytes: usize, address: u64, data: &[u8]) {
    let mut body = vec![(address_bytes + data.len() + 1) as u8];
    body.extend_from_slice(&address.to_be_bytes()[8 - address_bytes..]);
    body.extend_from_slice(data);
    body.push(!sum(&body));
    out.extend([b'S', kind]);
    push_pairs(out, &body);
    out.push(b'\n');
}

/// Reads S-records.
pub(super) fn read(bytes: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    let mut data = Collector::of_bytes(isa.memory(memory));
    let mut count = 0;
    let mut entry = None;
    for (at, line) in lines(bytes).filter(|(_, line)| !line.is_empty()) {
        if entry.is_some() {
            return Err(after_the_end().at_line(at));
        }
        let record = record(line).map_err(|error| error.at_line(at))?;
        match record.kind {
            b'1'..=b'3' => {
                count += 1;
                data.put(record.address.into(), &record.data).map_err(|error| error.at_line(at))?;
            }
            b'5' | b'6' => check_count(count, record.address).map_err(|error| error.at_line(at))?,
            b'7'..=b'9' => entry = Some(record.address),
            _ => {}
        }
    }
    let Some(entry) = entry else {
        let next = "get the file again, or add `S9030000FC` if nothing is missing";
        return Err(FormatError::new("the file does not end with an S7, S8 or S9 record", next));
    };
    image_of_bytes(data, isa, memory, Some(entry).filter(|entry| *entry != 0))
}

/// Whether this is a complete and valid record.
pub(super) fn is_record(line: &[u8]) -> bool {
    record(line).is_ok()
}

struct Record {
    kind: u8,
    address: u64,
    data: Vec<u8>,
}

fn record(line: &[u8]) -> Result<Record, FormatError> {
    let [b'S' | b's', kind, text @ ..] = line else {
        let cause = format!("a record begins with `S` and a digit, not with `{}`", shown(line));
        return Err(FormatError::new(cause, "check that this is an S-record file"));
    };
    let address_bytes = address_bytes(*kind)?;
    let bytes = pairs(text)?;
    let [length, rest @ ..] = bytes.as_slice() else { return Err(cut_short("it has no length")) };
    if rest.len() != usize::from(*length) || rest.len() < address_bytes + 1 {
        return Err(cut_short(&format!("it says {length} bytes and has {}", rest.len())));
    }
    let (address, rest) = rest.split_at(address_bytes);
    let (data, checksum) = rest.split_at(rest.len() - 1);
    let expected = !sum(&bytes[..bytes.len() - 1]);
    if checksum[0] != expected {
        return Err(wrong_checksum(checksum[0], expected));
    }
    Ok(Record { kind: *kind, address: number(address), data: data.to_vec() })
}

fn address_bytes(kind: u8) -> Result<usize, FormatError> {
    match kind {
        b'0' | b'1' | b'5' | b'9' => Ok(2),
        b'2' | b'6' | b'8' => Ok(3),
        b'3' | b'7' => Ok(4),
        _ => {
            let cause = format!("there is no record `S{}`", shown(&[kind]));
            Err(FormatError::new(cause, "use S0, S1, S2, S3, S5, S6, S7, S8 and S9 only"))
        }
    }
}

fn check_count(found: u64, said: u64) -> Result<(), FormatError> {
    if found == said {
        return Ok(());
    }
    let cause = format!("the file says that it has {said} data records, but there are {found}");
    Err(FormatError::new(cause, "get the file again; lines are missing or doubled"))
}
