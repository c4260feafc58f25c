//! `lathe dis`: from an image back to assembly.

use lathe_asm::formats;
use lathe_asm::{Method, SymbolKind, disassemble};
use lathe_base::limits;

use super::Outcome;
use crate::arguments::Dis;
use crate::exit::{Exit, Failure};
use crate::{files, output, program};

/// Writes the assembly of a program.
pub(super) fn execute(arguments: &Dis) -> Outcome {
    let format = arguments.from.as_deref().map(super::asm::format_named).transpose()?;
    let mut loaded = program::load(&arguments.image, arguments.machine.machine.as_deref(), format)?;
    if let Some(symbols) = &arguments.symbols {
        loaded.image.symbols.extend(named_places(symbols, &loaded.isa)?);
    }
    loaded.image.entry = arguments.entry.or(loaded.image.entry);
    let method = if arguments.linear { Method::Linear } else { Method::Follow };
    let text = disassemble(&loaded.isa, &loaded.image, method);
    match &arguments.output {
        Some(name) => files::write_whole(name, text.as_bytes())?,
        None => output::answer(&text)?,
    }
    Ok(Exit::Done)
}

/// Symbols from a file of lines such as `name = 0x1234`, which `-f symbols` writes.
fn named_places(name: &str, isa: &lathe_isa::Isa) -> Result<Vec<lathe_asm::Symbol>, Failure> {
    let text = files::read_text(name, limits::IMAGE_BYTES)?;
    let mut symbols = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split([';', '#']).next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let parsed = line.split_once('=').and_then(|(name, value)| {
            let value = value.split_whitespace().next()?;
            Some((name.trim().to_owned(), crate::arguments::number(value).ok()?))
        });
        let Some((symbol, value)) = parsed else {
            let error = formats::FormatError::new(format!("`{line}` is no symbol"), "write lines such as `main = 0x100`");
            return Err(program::format_failure(name, &error.at_line(number + 1)));
        };
        let (value, kind) = (i128::from(value), SymbolKind::Label(isa.pc.memory));
        symbols.push(lathe_asm::Symbol { name: symbol, value, kind, exported: false, span: Default::default() });
    }
    Ok(symbols)
}
