//! Formats definitions and assembly into columns.
//!
//! ```
//! let ragged = "register a:u8\nregister counter :u16\n";
//! let tidy = "register a       : u8\nregister counter : u16\n";
//! assert_eq!(lathe_fmt::definition(ragged), tidy);
//! assert_eq!(lathe_fmt::definition(tidy), tidy);
//! ```
//!
//! Only blanks and empty lines change, and only where they mean nothing; every rewritten part is read again, and left
//! as it was if it would read differently. So a formatted file, even a broken one, means what it meant.
//!
//! Deliberately absent: files, settings, and any opinion on names or order.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod assembly;
mod columns;
mod definition;
mod rows;
mod spacing;

pub use assembly::assembly;
pub use definition::definition;

/// Formats until nothing changes, so that formatting twice is formatting once. The lines of a file vote on its columns,
/// and a line too long for its column may tip the next vote.
fn settle(text: &str, once: impl Fn(&str) -> String) -> String {
    let mut current = once(text);
    for _ in 0..8 {
        let next = once(&current);
        if next == current {
            break;
        }
        current = next;
    }
    current
}
