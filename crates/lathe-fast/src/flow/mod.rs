//! How one operation leads to the next. `execute.rs` says only that it does; there are two ways.

#[cfg(not(any(target_family = "wasm", feature = "loop")))]
mod calls;
#[cfg(any(target_family = "wasm", feature = "loop"))]
mod turns;

#[cfg(not(any(target_family = "wasm", feature = "loop")))]
pub(super) use calls::*;
#[cfg(any(target_family = "wasm", feature = "loop"))]
pub(super) use turns::*;
