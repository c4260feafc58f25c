//! The datasheet as JSON, for other tools.

use crate::Sheet;

/// What the JSON looks like, as a JSON Schema. It is published as `docs/model.schema.json`.
pub const SCHEMA: &str = include_str!("../../../docs/model.schema.json");

/// The datasheet as one JSON document.
pub fn json(sheet: &Sheet) -> String {
    // Nothing in it can fail: strings, numbers, lists.
    serde_json::to_string_pretty(sheet).unwrap_or_default() + "\n"
}
