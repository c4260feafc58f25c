//! Intel HEX, after Intel's "Hexadecimal Object File Format Specification", revision A.
//!
//! Written: data (00), end (01), upper address (04) when it changes, and the entry (05). Read:
//! these and the older segment records (02, 03). Addresses count bytes, see `bytes`.

use lathe_isa::model::{Isa, MemoryId};

use super::bytes::{byte_address, byte_runs, image_of_bytes};
use super::records::{DATA, after_the_end, cut_short, number, pairs, push_pairs, sum, wrong_checksum};
use super::rom::Rom;
use super::runs::Collector;
use super::text::{lines, shown};
use super::{BEYOND, FormatError};
use crate::Image;

const PAGE: u128 = 1 << 16;

/// Writes the cells as Intel HEX.
pub(super) fn write(rom: &Rom) -> Result<Vec<u8>, FormatError> {
    let last = byte_address(rom, rom.end()).max(rom.entry.map_or(0, |entry| byte_address(rom, entry) + 1));
    if last > 1 << 32 {
        let cause = format!("byte address {:#x} is beyond the 32 bits of Intel HEX", last - 1);
        return Err(FormatError::new(cause, BEYOND));
    }
    let mut out = Vec::new();
    let mut upper = 0;
    for run in byte_runs(rom) {
        let mut at = 0;
        while at < run.items.len() {
            let address = run.start + at as u128;
            if address / PAGE != upper {
                upper = address / PAGE;
                push_record(&mut out, 4, 0, &(upper as u16).to_be_bytes());
            }
            let length = DATA.min(run.items.len() - at).min((PAGE - address % PAGE) as usize);
            push_record(&mut out, 0, address as u16, &run.items[at..at + length]);
            at += length;
        }
    }
    if let Some(entry) = rom.entry {
        push_record(&mut out, 5, 0, &(byte_address(rom, entry) as u32).to_be_bytes());
    }
    push_record(&mut out, 1, 0, &[]);
    Ok(out)
}

fn push_record(out: &mut Vec<u8>, kind: u8, address: u16, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let head = [data.len() as u8, high, low, kind];
    let checksum = sum(&head).wrapping_add(sum(data)).wrapping_neg();
    out.push(b':');
    push_pairs(out, &head);
    push_pairs(out, data);
    push_pairs(out, &[checksum]);
    out.push(b'\n');
}

/// Reads Intel HEX.
pub(super) fn read(bytes: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    let mut reader = Reader { data: Collector::of_bytes(isa.memory(memory)), base: Base::Linear(0), entry: None };
    let mut ended = false;
    for (at, line) in lines(bytes).filter(|(_, line)| !line.is_empty()) {
        if ended {
            return Err(after_the_end().at_line(at));
        }
        let record = record(line).map_err(|error| error.at_line(at))?;
        ended = record.kind == 1;
        reader.take(&record).map_err(|error| error.at_line(at))?;
    }
    if !ended {
        let next = "get the file again, or add `:00000001FF` if nothing is missing";
        return Err(FormatError::new("the file does not end with an end record", next));
    }
    image_of_bytes(reader.data, isa, memory, reader.entry)
}

/// Whether this is a complete and valid record.
pub(super) fn is_record(line: &[u8]) -> bool {
    record(line).is_ok()
}

struct Record {
    kind: u8,
    address: u128,
    data: Vec<u8>,
}

fn record(line: &[u8]) -> Result<Record, FormatError> {
    let Some(text) = line.strip_prefix(b":") else {
        let cause = format!("a record begins with `:`, not with `{}`", shown(line));
        return Err(FormatError::new(cause, "check that this is an Intel HEX file"));
    };
    let bytes = pairs(text)?;
    let [length, high, low, kind, rest @ ..] = bytes.as_slice() else {
        return Err(cut_short("it needs at least five bytes"));
    };
    let Some((checksum, data)) = rest.split_last().filter(|(_, data)| data.len() == usize::from(*length)) else {
        return Err(cut_short(&format!("it says {length} bytes of data and has {}", rest.len().saturating_sub(1))));
    };
    let expected = sum(&bytes[..bytes.len() - 1]).wrapping_neg();
    if *checksum != expected {
        return Err(wrong_checksum(*checksum, expected));
    }
    Ok(Record { kind: *kind, address: number(&[*high, *low]).into(), data: data.to_vec() })
}

/// The base that the addresses of data records are added to.
enum Base {
    /// Set by a record of type 04; data continues past 64 KiB.
    Linear(u128),
    /// Set by a record of type 02; data wraps within 64 KiB.
    Segment(u128),
}

struct Reader {
    data: Collector<u8>,
    base: Base,
    entry: Option<u64>,
}

impl Reader {
    fn take(&mut self, record: &Record) -> Result<(), FormatError> {
        match (record.kind, record.data.as_slice()) {
            (0, data) => self.take_data(record.address, data),
            (1, []) => Ok(()),
            (2, segment @ [_, _]) => self.set_base(Base::Segment(u128::from(number(segment)) << 4)),
            (3, start @ [_, _, _, _]) => self.set_entry((number(&start[..2]) << 4) + number(&start[2..])),
            (4, upper @ [_, _]) => self.set_base(Base::Linear(u128::from(number(upper)) << 16)),
            (5, start @ [_, _, _, _]) => self.set_entry(number(start)),
            (kind @ 1..=5, data) => {
                let cause = format!("a record of type {kind:02X} does not have {} bytes of data", data.len());
                Err(FormatError::new(cause, "check the program that wrote the file"))
            }
            (kind, _) => {
                let cause = format!("there is no record of type {kind:02X}");
                Err(FormatError::new(cause, "use types 00 to 05 only"))
            }
        }
    }

    fn take_data(&mut self, address: u128, data: &[u8]) -> Result<(), FormatError> {
        match self.base {
            Base::Linear(base) => self.data.put(base + address, data),
            Base::Segment(base) => {
                let (before, wrapped) = data.split_at(data.len().min((PAGE - address) as usize));
                self.data.put(base + address, before)?;
                if wrapped.is_empty() { Ok(()) } else { self.data.put(base, wrapped) }
            }
        }
    }

    fn set_base(&mut self, base: Base) -> Result<(), FormatError> {
        self.base = base;
        Ok(())
    }

    fn set_entry(&mut self, entry: u64) -> Result<(), FormatError> {
        self.entry = Some(entry);
        Ok(())
    }
}
