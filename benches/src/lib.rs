//! Measurements, and the baselines that Lathe is measured against.
//!
//! `lathe bench` prints the ratios of the engines to a hand-written interpreter and to a static translation by gcc;
//! this library times them and has those baselines. `cargo bench -p lathe-benches` runs the other measurements, or one
//! with `--bench growth`.
//!
//! This is the edge: it has a clock, starts processes, and writes temporary files. Nothing in the product depends on it
//! but the command that uses it.

pub mod by_hand;
pub mod generated;
pub mod goals;
pub mod measure;
pub mod programs;
pub mod real;
pub mod translation;
