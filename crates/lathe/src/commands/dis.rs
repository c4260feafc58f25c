//! `lathe dis`: from an image back to assembly.

use lathe_asm::formats::FormatError;
use lathe_asm::{Method, Symbol, SymbolKind, disassemble};
use lathe_base::{Span, limits};
use lathe_isa::Isa;
use serde::Deserialize;

use super::Outcome;
use crate::arguments::{self, AssemblyArguments, Dis, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::output;
use crate::program::{self, Program, Request};
use crate::render::hex;

/// Writes the assembly of a program.
pub(super) fn execute(arguments: &Dis) -> Outcome {
    let inputs = Inputs::default();
    let text = disassembled(arguments, &inputs)?;
    let json = arguments.format.format == Format::Json;
    match &arguments.output {
        Some(name) => {
            inputs.check_spared(name, "-o")?;
            files::write_all(&[Whole { name: name.clone(), bytes: text.into_bytes() }])?;
            if json {
                output::answer(&output::json(&serde_json::json!({ "ok": true, "file": name }))?)?;
            }
        }
        None if json => output::answer(&output::json(&serde_json::json!({ "ok": true, "assembly": text }))?)?,
        None => output::answer(&text)?,
    }
    Ok(Exit::Done)
}

fn disassembled(arguments: &Dis, inputs: &Inputs) -> Result<String, Failure> {
    let Dis { image: name, machine, from, .. } = arguments;
    let request = Request {
        name,
        machine: machine.machine.as_deref(),
        from: from.as_deref(),
        load_at: arguments.load_at,
        assembly: &AssemblyArguments::default(),
    };
    let Program { isa, mut image, .. } = request.load(inputs)?;
    if let Some(file) = &arguments.symbols {
        inputs.note(file);
        // Before those of the image: where both name an address, the user's name counts.
        image.symbols.splice(..0, named_places(file, &isa)?);
    }
    if let Some(entry) = arguments.entry {
        check_entry(entry, &isa)?;
        image.entry = Some(entry);
    }
    let method = if arguments.linear { Method::Linear } else { Method::Follow };
    Ok(disassemble(&isa, &image, method))
}

fn check_entry(entry: u64, isa: &Isa) -> Result<(), Failure> {
    let memory = isa.code_memory();
    if entry <= memory.last() {
        return Ok(());
    }
    let last = hex(memory.last(), memory.address.bits());
    let message = format!("`--entry {entry:#X}` is outside of memory `{}`", memory.name);
    Err(Failure::usage(message).help(format!("its last address is {last}")))
}

/// Reads symbols from a file, as `--to symbols` or `--to symbols-json` writes them.
fn named_places(name: &str, isa: &Isa) -> Result<Vec<Symbol>, Failure> {
    let text = files::read_text(name, limits::IMAGE_BYTES)?;
    let symbols = if text.trim_start().starts_with('{') { from_json(&text, isa) } else { from_lines(&text, isa) };
    symbols.map_err(|error| program::format_failure(name, &error))
}

/// Parses lines such as `name = 0x1234`. They name no memory, so the code memory is meant.
fn from_lines(text: &str, isa: &Isa) -> Result<Vec<Symbol>, FormatError> {
    let mut symbols = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split([';', '#']).next().unwrap_or("").trim();
        if !line.is_empty() {
            symbols.push(from_line(line, isa).map_err(|error| error.at_line(number + 1))?);
        }
    }
    Ok(symbols)
}

fn from_line(line: &str, isa: &Isa) -> Result<Symbol, FormatError> {
    let parsed = line.split_once('=').and_then(|(name, value)| {
        let value = value.trim();
        let (digits, sign) = value.strip_prefix('-').map_or((value, 1), |digits| (digits, -1));
        Some((name.trim(), sign * i128::from(arguments::number(digits).ok()?)))
    });
    match parsed {
        Some((name, value)) if !name.is_empty() => Ok(symbol(name, value, SymbolKind::Label(isa.pc.memory))),
        _ => Err(FormatError::new(format!("`{line}` is not a symbol"), "write lines such as `main = 0x100`")),
    }
}

/// The needed part of a symbol file.
#[derive(Deserialize)]
struct SymbolsData {
    symbols: Vec<SymbolData>,
}

#[derive(Deserialize)]
struct SymbolData {
    name: String,
    /// A number, or a string if it has too many bits for a number; strings are not addresses.
    value: serde_json::Value,
    memory: Option<String>,
}

fn from_json(text: &str, isa: &Isa) -> Result<Vec<Symbol>, FormatError> {
    let data: SymbolsData = serde_json::from_str(text).map_err(|error| {
        let cause = format!("there are no symbols in it: {error}");
        FormatError::new(cause, "write it with `lathe asm -f symbols-json`").at_line(error.line())
    })?;
    let places = data.symbols.into_iter().filter_map(|data| {
        let memory = isa.memory_named(data.memory.as_deref()?)?;
        Some(symbol(&data.name, data.value.as_u64()?.into(), SymbolKind::Label(memory)))
    });
    Ok(places.collect())
}

fn symbol(name: &str, value: i128, kind: SymbolKind) -> Symbol {
    Symbol { name: name.to_owned(), value, kind, exported: false, span: Span::default() }
}
