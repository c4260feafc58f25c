//! What instructions compute, as a graph of values: the form that the fast engines lower.
//!
//! Executing a body symbolically, on *values* instead of numbers, turns its statements into a graph without control
//! flow, a list of conditions under which the engine must leave the instruction to the reference interpreter, and the
//! effects, which come last. So an engine can leave an instruction before it has had any effect.
//!
//! Deliberately absent: state, devices, and engines. This crate only says what devices are asked and told, and what an
//! engine must leave (faults, watched accesses).

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod execute;
pub mod graph;
pub mod patched;
pub mod range;

pub use execute::{
    Bail, DeviceCall, Effects, Meaning, Registers, Reserved, Start, Store, SymbolicState, execute, mapped_spans,
};
pub use graph::{Graph, Node, ValueId, WayOn};
pub use range::Range;
