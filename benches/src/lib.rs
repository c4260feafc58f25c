//! Measurements. Run them with `cargo bench -p lathe-benches`, or one with `--bench check`.
