//! What is said once for several things: operands with the same modes, and registers in adjacent cells.

use crate::html::all_names;
use crate::sheet::{CodeData, MapData, ModeData, Sheet};

/// Operands that have the same modes.
pub(crate) struct SharedModes<'s> {
    pub(crate) names: Vec<&'s str>,
    /// The operands before it whose modes it has too.
    pub(crate) includes: Vec<&'s str>,
    /// Its other modes.
    pub(crate) modes: Vec<&'s ModeData>,
    pub(crate) documentation: &'s str,
}

/// Groups the operands that have the same modes, and lists no mode more often than necessary.
pub(crate) fn shared_modes(sheet: &Sheet) -> Vec<SharedModes<'_>> {
    let alike = |one: &crate::ModesData, next: &crate::ModesData| {
        (&one.modes, one.bits, &one.documentation) == (&next.modes, next.bits, &next.documentation)
    };
    let mut before: Vec<&crate::ModesData> = Vec::new();
    let mut shared = Vec::new();
    for operands in sheet.modes.chunk_by(alike) {
        let operand = &operands[0];
        let mut modes: Vec<&ModeData> = operand.modes.iter().collect();
        let mut includes = Vec::new();
        // The operand with the most modes first: its modes need not be listed again.
        before.sort_by_key(|other| std::cmp::Reverse(other.modes.len()));
        for other in before.iter().filter(|other| other.modes.len() > 1) {
            if other.modes.iter().all(|mode| modes.contains(&mode)) {
                modes.retain(|mode| !other.modes.contains(mode));
                includes.push(other.name.as_str());
            }
        }
        let names = operands.iter().map(|operand| operand.name.as_str()).collect();
        shared.push(SharedModes { names, includes, modes, documentation: &operand.documentation });
        before.push(operand);
    }
    shared
}

/// Returns the mapped addresses; adjacent cells that are one register each share a line.
pub(crate) fn maps(sheet: &Sheet) -> Vec<MapData> {
    let is_register = |map: &MapData| {
        map.first == map.last && map.documentation.is_empty() && map.write == format!("{} = value", map.read)
    };
    let follows = |one: &MapData, next: &MapData| {
        one.memory == next.memory
            && one.last.checked_add(1) == Some(next.first)
            && is_register(one)
            && is_register(next)
    };
    let lines = |run: &[MapData]| match run {
        [first, _, .., last] => {
            let names = format!("{} to {}", first.read, last.read);
            vec![MapData { last: last.last, read: names.clone(), write: names, ..first.clone() }]
        }
        few => few.to_vec(),
    };
    sheet.maps.chunk_by(follows).flat_map(lines).collect()
}

/// The fewest names that are shown as a range.
const RANGE: usize = 4;

/// Returns the names of a field and their codes; names that count with their codes become a range, as in definitions:
/// `r0..r31`.
pub(crate) fn names_and_codes(values: &[CodeData]) -> Vec<(String, String)> {
    let split = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number =
            name[stem.len()..].parse::<u64>().ok().filter(|number| number.to_string() == name[stem.len()..])?;
        (!stem.ends_with('-')).then(|| (stem.to_owned(), number))
    };
    let follows = |one: &CodeData, next: &CodeData| {
        let names = split(&one.name).zip(split(&next.name));
        let is_next = names.is_some_and(|((stem, number), (same, second))| stem == same && number + 1 == second);
        is_next && one.value + 1 == next.value && one.spellings.is_empty() && next.spellings.is_empty()
    };
    let mut told = Vec::new();
    for run in values.chunk_by(follows) {
        match run {
            [first, .., last] if run.len() >= RANGE => {
                told.push((format!("{}..{}", first.name, last.name), format!("{}..{}", first.value, last.value)));
            }
            _ => told.extend(run.iter().map(|one| (all_names(&one.name, &one.spellings), one.value.to_string()))),
        }
    }
    told
}
