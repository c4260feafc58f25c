//! Code that tests of several crates share. The tests themselves are in `tests/`.

pub mod cosim;
pub mod definitions;
pub mod differential;
pub mod emulator;
pub mod encodings;
pub mod pages;
pub mod random;
pub mod tools;
