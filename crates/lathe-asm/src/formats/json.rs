//! What the JSON formats share: numbers that every reader can hold, and lists with one entry a line, so that files can
//! be compared as text.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FormatError;

/// A number of any size. Beyond 53 bits, where many JSON readers round, it is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub(super) i128);

const EXACT: i128 = 1 << 53;

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(small) if self.0.abs() <= EXACT => serializer.serialize_i64(small),
            _ => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number, or one in quotes")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        text.parse().map(Number).map_err(|_| E::custom("not a decimal number"))
    }
}

impl From<u64> for Number {
    fn from(address: u64) -> Number {
        Number(address.into())
    }
}

/// A JSON object under construction, one key a line.
pub(super) struct Object {
    out: Vec<u8>,
}

impl Object {
    pub(super) fn new() -> Object {
        Object { out: b"{".to_vec() }
    }

    /// Adds a key with a value on one line.
    pub(super) fn value(&mut self, key: &str, value: &impl Serialize) -> Result<(), FormatError> {
        self.key(key);
        self.push(value)
    }

    /// Adds a key with a list, one entry a line.
    pub(super) fn list<T: Serialize>(
        &mut self,
        key: &str,
        entries: impl IntoIterator<Item = T>,
    ) -> Result<(), FormatError> {
        self.key(key);
        self.out.push(b'[');
        let mut any = false;
        for entry in entries {
            self.out.extend_from_slice(if any { b",\n    " } else { b"\n    " });
            any = true;
            self.push(&entry)?;
        }
        self.out.extend_from_slice(if any { b"\n  ]" } else { b"]" });
        Ok(())
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"\n}\n");
        self.out
    }

    fn key(&mut self, key: &str) {
        let comma = if self.out.len() > 1 { "," } else { "" };
        self.out.extend_from_slice(format!("{comma}\n  \"{key}\": ").as_bytes());
    }

    fn push(&mut self, value: &impl Serialize) -> Result<(), FormatError> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| {
            FormatError::new(format!("this cannot be written as JSON: {error}"), "write another format")
        })
    }
}

/// Returns cells as hexadecimal digits.
pub(super) fn hexadecimal(cells: &[u64], digits: usize, between: &str) -> String {
    let mut text = String::with_capacity(cells.len() * (digits + between.len()));
    for (at, cell) in cells.iter().enumerate() {
        text += if at > 0 { between } else { "" };
        text += &format!("{cell:0digits$x}");
    }
    text
}
