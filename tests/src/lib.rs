//! Tests that need several crates, or the binary. The tests are in `tests/`.
