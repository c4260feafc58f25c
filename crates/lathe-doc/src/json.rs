//! The datasheet as JSON, for other tools.

use crate::Sheet;

/// The JSON Schema of the JSON, published as `docs/model.schema.json`.
pub const SCHEMA: &str = include_str!("../../../docs/model.schema.json");

/// Returns the datasheet as one JSON document.
pub fn json(sheet: &Sheet) -> String {
    // This cannot fail: there are only strings, numbers and lists.
    serde_json::to_string_pretty(sheet).unwrap_or_default() + "\n"
}
