//! Datasheets: everything that a definition says about its machine, to read, print and process.
//!
//! ```
//! let text = lathe_machines::find("quad8").unwrap().definition;
//! let loaded = lathe_isa::load(text);
//! let sheet = lathe_doc::Sheet::new(&loaded.isa.unwrap(), &loaded.written);
//! assert!(lathe_doc::html(&sheet).contains("<svg"));
//! assert!(lathe_doc::json(&sheet).contains("\"bits\": \"0001DDSS\""));
//! ```
//!
//! A [`Sheet`] is made once from the model and the text of the definition; the page, the Markdown, the reference card
//! and the JSON are four ways to write it down, and know nothing of the model. So they cannot contradict one another.
//!
//! Deliberately absent: files, browsers, and prose about a machine that is not from its definition.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod bits;
mod card;
mod diagram;
mod flags;
mod grouped;
mod html;
mod json;
mod markdown;
mod markup;
mod sheet;
mod source;
mod touches;

pub use bits::Part;
pub use card::{card_html, card_svg};
pub use flags::Flag;
pub use html::html;
pub use json::{SCHEMA, json};
pub use markdown::markdown;
pub use sheet::*;
