//! Measurements, and what Lathe is measured against.
//!
//! `lathe bench` prints the ratios of the engines to a hand-written interpreter and to a
//! static translation by gcc; this library times them and has those baselines. The other
//! measurements are run with `cargo bench -p lathe-benches`, or one with `--bench growth`.
//!
//! This is the edge: it has a clock, starts processes, and writes temporary files. Nothing
//! of the product depends on it but the command that asks for it.

pub mod by_hand;
pub mod generated;
pub mod goals;
pub mod measure;
pub mod programs;
pub mod real;
pub mod translation;
