//! The definitions that ship with Lathe, as text. They are in no way special: each is a
//! file in `machines/` that a user could have written.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

/// A machine that ships with Lathe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// The text of its definition.
    pub definition: &'static str,
}

macro_rules! machines {
    ($($name:literal)*) => {
        /// All of them.
        pub const ALL: &[Machine] = &[$(Machine {
            name: $name,
            definition: include_str!(concat!("../../../machines/", $name, "/", $name, ".isa")),
        }),*];
    };
}

machines! { "quad8" "duo16" "stack8a" "stack8b" "hex8" "sm83" "mos6502" "rv32i" "chip8" "lc3" }

/// The machine of this name.
pub fn find(name: &str) -> Option<Machine> {
    ALL.iter().copied().find(|machine| machine.name == name)
}
