//! What every other crate of Lathe shares: places in source texts, diagnostics as values, widths of bit vectors,
//! limits, maps keyed by number, and the search for the nearest name.
//!
//! Deliberately absent: input and output, clocks, randomness, and any knowledge of instruction sets. The binary renders
//! diagnostics.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod diagnostic;
pub mod files;
pub mod fix;
pub mod limits;
pub mod nearest;
pub mod numbers;
pub mod source;
pub mod width;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use files::Files;
pub use fix::{Fix, Safety};
pub use nearest::nearest;
pub use source::{FileId, Source, Span};
pub use width::Width;
