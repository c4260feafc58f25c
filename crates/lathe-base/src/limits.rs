//! The limits on every kind of growth, so that no input makes Lathe hang or run out of
//! memory. Each has a diagnostic that names it.

/// Bytes of one definition.
pub const DEFINITION_BYTES: usize = 1 << 20;
/// How deep expressions, blocks and calls may nest.
pub const NESTING: usize = 64;
/// Rows of a definition after families have been spread out.
pub const INSTRUCTIONS: usize = 16_384;
/// Declared names of one kind: registers, fields, functions and so on.
pub const NAMES: usize = 4_096;
/// Names in one list: the registers of a field, the items of a `for`.
pub const LIST: usize = 1_024;
/// Operands of one instruction.
pub const OPERANDS: usize = 8;
/// Bits of one instruction.
pub const INSTRUCTION_BITS: usize = 128;
/// Statements and expressions of one meaning after inlining and unrolling.
pub const MEANING_NODES: usize = 20_000;
/// Statements and expressions of all meanings together.
pub const TOTAL_NODES: usize = 4_000_000;
/// Bits of an address.
pub const ADDRESS_BITS: u32 = 32;
/// Cells of a memory that is kept in one piece; larger ones are kept in pages.
pub const FLAT_CELLS: u64 = 1 << 20;
/// Bytes of an image that is loaded.
pub const IMAGE_BYTES: u64 = 1 << 28;
/// Bytes of a file of test vectors.
pub const VECTOR_BYTES: u64 = 1 << 30;
/// Diagnostics of one run.
pub const DIAGNOSTICS: usize = 100;
