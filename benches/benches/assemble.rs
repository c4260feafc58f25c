//! Lines per second and bytes per line of the assembler, for generated sources of 1,000 to 1,000,000 lines with labels
//! and forward references, and for lines of one mnemonic that has 10,000 rows.
//!
//! `cargo bench -p lathe-benches --bench assemble`
//!
//! A million lines do not fit into 64 KiB, so the sources go back to address 0 now and then and are assembled with
//! `Overlap::LaterWins`. Memory is the growth of the peak resident set of a fresh process for each size, without the
//! source's own text.

use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

use lathe_asm::{Options, Overlap, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_benches::generated;

/// The generated machine whose rows all have one mnemonic.
const MANY_ROWS: &str = "10k rows";
const ROWS: usize = 10_000;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Blocks of lines after which the addresses begin again.
const WRAP: usize = 3_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, marker, machine, lines] = arguments.as_slice()
        && marker == "--one"
    {
        return one(machine, lines.parse().expect("a number of lines"));
    }
    println!("{:<8} {:>9} {:>14} {:>14}", "machine", "lines", "lines/s", "bytes/line");
    let this = std::env::current_exe().expect("this program has a path");
    let sizes = |machine| SIZES.map(|lines| (machine, lines));
    for (machine, lines) in sizes("hex8").into_iter().chain(sizes("duo16")).chain([(MANY_ROWS, 20_000)]) {
        let status = Command::new(&this).args(["--one", machine, &lines.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "the measuring process ends well");
    }
}

/// Returns the definition of a measured machine.
fn definition(machine: &str) -> String {
    match machine {
        MANY_ROWS => generated::many_rows(ROWS),
        name => lathe_machines::find(name).expect("it ships").definition.to_owned(),
    }
}

/// Measures one machine and size and prints a row.
fn one(machine: &str, lines: usize) {
    let isa = lathe_isa::load(&definition(machine)).isa.expect("it is right");
    let text = if machine == MANY_ROWS { generated::lines_for_many_rows(lines, ROWS) } else { source(machine, lines) };
    let rounds = (2_000_000 / lines).clamp(3, 200);
    let before = peak();
    let mut best = f64::MAX;
    let mut growth = None;
    for _ in 0..rounds {
        let main = Source::new("generated.asm", text.clone());
        let options = Options { overlap: Overlap::LaterWins, ..Options::default() };
        let start = Instant::now();
        let result = assemble(&isa, &MemoryFiles::default(), main, &options);
        best = best.min(start.elapsed().as_secs_f64());
        assert!(result.image.is_some(), "{:?}", result.diagnostics.into_sorted().first());
        growth = growth.or_else(|| Some(peak()?.saturating_sub(before?).saturating_sub(text.len())));
    }
    let memory = growth.map_or("unknown".to_owned(), |bytes| format!("{:.0}", bytes as f64 / lines as f64));
    println!("{machine:<8} {lines:>9} {:>14.0} {memory:>14}", lines as f64 / best);
}

/// Returns a source of eight-line blocks: a label, five instructions, a comment, a constant.
fn source(machine: &str, lines: usize) -> String {
    let mut text = format!(".machine {machine}\n");
    for block in 0..lines / 8 {
        if block % WRAP == 0 {
            text.push_str(".org 0\n");
        }
        let (near, far) = (block + 1, (block + 5).min((lines / 8).saturating_sub(1)));
        let near = near.min((lines / 8).saturating_sub(1));
        let number = block % 256;
        let body = match machine {
            "hex8" => format!(
                "label_{block}:\n        loadimm r1, {number}\n        addimm r2, r1, 0x{number:02X}\n        jmpo r3, label_{far}\n        call label_{near}        ; go on\n        storemem r2, 0x8000 + {number} * 2\nvalue_{block} = {number} << 4 | 3\n        xor r4, r5\n"
            ),
            _ => format!(
                "label_{block}:\n        ldi r1, label_{far}\n        add r1, r2, r3\n        jez label_{near}\n        load r1l, r2, 0x{number:02X}\n        store r0, 0x8000 + {number} * 2, r1  ; go on\nvalue_{block} = {number} << 4 | 3\n        push r4\n"
            ),
        };
        let _ = text.write_str(&body);
    }
    text
}

/// Returns the peak resident set in bytes, where the system reports it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib * 1024)
}
