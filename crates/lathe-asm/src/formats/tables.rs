//! Cells for people and spreadsheets: a hex dump, and comma-separated values.

use std::fmt::Write;

use super::rom::Rom;
use super::runs::slice;

/// Writes rows of cells with their addresses, and characters where cells are bytes. Cells that the image leaves
/// undefined are shown as dashes; rows without any others are left out.
pub(super) fn write_hexdump(rom: &Rom) -> Vec<u8> {
    let in_a_row: u128 = if rom.digits() <= 2 { 16 } else { 8 };
    let mut out = String::new();
    let mut next = 0;
    for run in &rom.runs {
        let first = (run.start / in_a_row).max(next);
        next = (run.end() - 1) / in_a_row + 1;
        (first..next).for_each(|row| push_row(&mut out, rom, row * in_a_row, in_a_row));
    }
    out.into_bytes()
}

fn push_row(out: &mut String, rom: &Rom, start: u128, in_a_row: u128) {
    let (digits, address_digits) = (rom.digits(), rom.address_digits());
    let cells = (start..start + in_a_row).map(|address| slice(&rom.runs, address, 1).first());
    let _ = write!(out, "{start:0address_digits$x}:");
    for cell in cells.clone() {
        let _ = match cell {
            Some(cell) => write!(out, " {cell:0digits$x}"),
            None => write!(out, " {}", "-".repeat(digits)),
        };
    }
    if rom.width.bits() == 8 {
        let _ = write!(out, "  |{}|", cells.map(character).collect::<String>());
    }
    out.push('\n');
}

fn character(cell: Option<&u64>) -> char {
    match cell.map(|cell| *cell as u8) {
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
