//! Memory for editors: references such as `ram:0x20`, cells as bytes, instructions around an address.

use lathe_debug::Debugger;
use lathe_isa::model::MemoryId;
use serde_json::{Value, json};

use super::base64;

/// The most bytes read or written at once.
const MOST: u64 = 1 << 20;

/// Formats a reference such as `ram:0x20`, which [`place`] parses.
pub(super) fn reference(name: &str, address: u64) -> String {
    format!("{name}:{address:#x}")
}

/// Parses a reference into a memory and an address; a bare address is in the code memory.
fn place(debugger: &Debugger, reference: &str) -> Result<(MemoryId, u64), String> {
    let isa = debugger.program().isa();
    let unknown = || format!("`{reference}` is not a place in memory, such as ram:0x20");
    let (name, address) = reference.split_once(':').map_or((None, reference), |(name, at)| (Some(name), at));
    let memory = name.map_or(Some(isa.pc.memory), |name| isa.memory_named(name)).ok_or_else(unknown)?;
    let address = crate::arguments::number(address).map_err(|_| unknown())?;
    Ok((memory, address))
}

/// Returns the address this many bytes from a reference.
fn offset(debugger: &Debugger, arguments: &Value) -> Result<(MemoryId, u64, u64), String> {
    let (memory, address) = place(debugger, arguments["memoryReference"].as_str().unwrap_or_default())?;
    let described = debugger.program().isa().memory(memory);
    let size = described.bytes_per_cell() as u64;
    let cells = arguments["offset"].as_i64().unwrap_or(0) / size as i64;
    Ok((memory, described.address.wrap(address.wrapping_add_signed(cells)), size))
}

pub(super) fn read(debugger: &Debugger, arguments: &Value) -> Result<Value, String> {
    let (memory, address, size) = offset(debugger, arguments)?;
    let described = debugger.program().isa().memory(memory);
    let wanted = arguments["count"].as_u64().ok_or("`count` is missing")?.min(MOST);
    let cells = (wanted / size).min((described.last() - address).saturating_add(1));
    let cell = |at: u64| debugger.state().memory(memory).get(address + at).to_le_bytes()[..size as usize].to_vec();
    let bytes: Vec<u8> = (0..cells).flat_map(cell).collect();
    let unreadable = wanted - bytes.len() as u64;
    Ok(json!({
        "address": format!("{address:#x}"), "unreadableBytes": unreadable, "data": base64::encode(&bytes),
    }))
}

pub(super) fn write(debugger: &mut Debugger, arguments: &Value) -> Result<Value, String> {
    let (memory, address, size) = offset(debugger, arguments)?;
    let data = arguments["data"].as_str().and_then(base64::decode).ok_or("`data` is not base64")?;
    let described = debugger.program().isa().memory(memory);
    let (cell, room) = (described.cell, (described.last() - address).saturating_add(1));
    let value = |bytes: &[u8]| cell.wrap(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
    let values: Vec<u64> = data.chunks_exact(size as usize).take(room as usize).map(value).collect();
    debugger.write_cells(memory, address, &values);
    Ok(json!({ "bytesWritten": values.len() as u64 * size }))
}

pub(super) fn disassemble(debugger: &Debugger, arguments: &Value) -> Result<Value, String> {
    let (_, address, _) = offset(debugger, arguments)?;
    let count = arguments["instructionCount"].as_u64().ok_or("`instructionCount` is missing")?.min(10_000);
    let from = arguments["instructionOffset"].as_i64().unwrap_or(0).clamp(-10_000, 10_000);
    let program = debugger.program();
    let before = program.lines_before(debugger.state(), address, from.min(0).unsigned_abs() as usize);
    let missing = from.min(0).unsigned_abs() - before.len() as u64;
    let ahead = lathe_debug::command::code_from(debugger, address, count + from.max(0).unsigned_abs());
    let lines = before.into_iter().chain(ahead).skip(from.max(0) as usize).map(|line| {
        let mut instruction = json!({
            "address": format!("{:#x}", line.place.address), "instructionBytes": line.cells, "instruction": line.text,
        });
        if let Some(label) = line.place.label.filter(|label| !label.contains('+')) {
            instruction["symbol"] = json!(label);
        }
        if let Some(source) = line.place.line {
            instruction["line"] = json!(source.line);
        }
        instruction
    });
    let invalid = json!({ "address": "0x0", "instruction": "??", "presentationHint": "invalid" });
    let all: Vec<Value> = std::iter::repeat_n(invalid, missing as usize).chain(lines).take(count as usize).collect();
    Ok(json!({ "instructions": all }))
}
