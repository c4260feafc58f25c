//! Cells for people and spreadsheets: a hex dump, and comma-separated values.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::rom::Rom;

/// Writes rows of cells with their addresses, and characters where cells are bytes. A cell that
/// the image says nothing about is shown as dashes; rows without any are left out.
pub(super) fn write_hexdump(rom: &Rom) -> Vec<u8> {
    let in_a_row: u64 = if rom.digits() <= 2 { 16 } else { 8 };
    let mut out = String::new();
    for (row, cells) in rows(rom, in_a_row) {
        let _ = write!(out, "{:0digits$x}:", row * in_a_row, digits = rom.address_digits());
        for cell in &cells {
            let _ = match cell {
                Some(cell) => write!(out, " {cell:0digits$x}", digits = rom.digits()),
                None => write!(out, " {}", "-".repeat(rom.digits())),
            };
        }
        if rom.width.bits() == 8 {
            let characters: String = cells.iter().map(|cell| character(*cell)).collect();
            let _ = write!(out, "  |{characters}|");
        }
        out.push('\n');
    }
    out.into_bytes()
}

fn rows(rom: &Rom, in_a_row: u64) -> BTreeMap<u64, Vec<Option<u64>>> {
    let mut rows = BTreeMap::new();
    for run in &rom.runs {
        for (address, cell) in (run.start..).zip(&run.items) {
            let row = rows.entry(address / in_a_row).or_insert_with(|| vec![None; in_a_row as usize]);
            row[(address % in_a_row) as usize] = Some(*cell);
        }
    }
    rows
}

fn character(cell: Option<u64>) -> char {
    match cell.map(|cell| cell as u8) {
        Some(byte @ 0x20..=0x7E) => char::from(byte),
        Some(_) => '.',
        None => ' ',
    }
}

/// Writes one cell a row, its address and value in decimal and the value in hexadecimal.
pub(super) fn write_csv(rom: &Rom) -> Vec<u8> {
    let digits = rom.digits();
    let mut out = String::from("address,value,hexadecimal\n");
    for run in &rom.runs {
        for (address, cell) in (run.start..).zip(&run.items) {
            let _ = writeln!(out, "{address},{cell},0x{cell:0digits$x}");
        }
    }
    out.into_bytes()
}
