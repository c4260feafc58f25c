//! Lathe for a page: a definition and a program to edit, and the machine that runs them.
//!
//! One object, the [`Workbench`], answers requests. A request is a JSON object whose `call` names what to do; the
//! answer is a JSON object too, and a `problem` in it says why the call failed. As the page uses it:
//!
//! ```
//! let mut bench = lathe_web::Workbench::default();
//! let mut ask = |request: &str| -> serde_json::Value {
//!     serde_json::from_str(&bench.answer(request)).unwrap()
//! };
//! let shipped = ask(r#"{"call": "shipped", "machine": "hex8", "program": "hello"}"#);
//! let texts = serde_json::json!({
//!     "call": "edit", "definition": shipped["definition"], "program": shipped["program"], "library": "hex8",
//! });
//! let checked = ask(&texts.to_string());
//! assert_eq!(checked["machine"]["name"], "hex8");
//! assert_eq!(checked["program"]["diagnostics"], serde_json::json!([]));
//!
//! ask(r#"{"call": "breakpoints", "lines": []}"#);
//! let stopped = ask(r#"{"call": "command", "line": "run", "limit": 1000000}"#);
//! assert_eq!(stopped["reason"], "idle");
//! let view = ask(r#"{"call": "view", "memory": "ram", "from": "0", "count": 64}"#);
//! assert!(view["console"]["text"].as_str().unwrap().starts_with("Hello"));
//! ask(r#"{"call": "command", "line": "back 3", "limit": 1000000}"#);
//! ```
//!
//! | call | what it does |
//! |---|---|
//! | `gallery` | the shipped machines and programs, the colour classes, the formats |
//! | `shipped` | the text of a shipped machine and of one of its programs |
//! | `edit` | takes both texts; checks, assembles, colours what has changed |
//! | `complete`, `hover`, `tidy` | what an editor asks about one of the texts |
//! | `reference` | the machine as data: rows, fields, opcode map |
//! | `command` | a line of the debugger's language, for at most `limit` instructions |
//! | `input`, `end_input`, `key`, `port`, `breakpoints` | what the user does to the machine |
//! | `view` | registers, code, cells, console and display as they are now, and what changed; addresses in hexadecimal |
//! | `download` | the image, the datasheet, the card or the hardware as files |
//!
//! Positions in texts count UTF-16 units, as a page does; values are hexadecimal texts, because a page's numbers have
//! 53 bits.
//!
//! Deliberately absent: the page (`web/`), clocks, threads. The page decides how long each slice of a run is, and calls
//! again.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod checking;
mod download;
#[cfg(target_arch = "wasm32")]
mod exports;
mod gallery;
mod places;
mod request;
mod running;
mod view;
mod workbench;

pub use workbench::Workbench;
