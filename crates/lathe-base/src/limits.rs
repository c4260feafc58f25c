//! Limits on every kind of growth, so that no input makes Lathe hang or run out of memory. Each has a diagnostic that
//! names it.

/// Bytes of one definition.
pub const DEFINITION_BYTES: usize = 1 << 20;
/// Files of one definition: what it extends and includes, directly or indirectly.
pub const DEFINITION_FILES: usize = 64;
/// Nesting depth of expressions, blocks and calls.
pub const NESTING: usize = 64;
/// Rows of a definition after families are expanded.
pub const INSTRUCTIONS: usize = 16_384;
/// Declared names of one kind: registers, fields, functions and so on.
pub const NAMES: usize = 4_096;
/// Names in one list: the registers of a field, the items of a `for`.
pub const LIST: usize = 1_024;
/// Memories of one machine.
pub const MEMORIES: usize = 16;
/// Names in the lists of all fields together; a list counts once for each field that has it.
pub const FIELD_NAMES: usize = 1 << 18;
/// Bytes of one column of syntax or encoding.
pub const COLUMN_BYTES: usize = 1_024;
/// Bytes of documentation before one row.
pub const DOCUMENTATION_BYTES: usize = 8_192;
/// Bits of all words of a field together.
pub const WORD_BITS: u32 = 16;
/// Words of a field made of words.
pub const WORDS: usize = 64;
/// Conditions after one `where`.
pub const CONDITIONS: usize = 64;
/// Rows that are not instructions, over all blocks of one kind: pseudo-instructions, examples, mapped addresses.
pub const ROWS: usize = 4_096;
/// Instructions that one pseudo-instruction expands to.
pub const EXPANSION: usize = 64;
/// Operators of one expression.
pub const OPERATORS: usize = 128;
/// Operands of one instruction.
pub const OPERANDS: usize = 16;
/// Bits of one instruction, including the modes that its encoding may depend on.
pub const INSTRUCTION_BITS: usize = 128;
/// Bits of all modes of a machine together.
pub const MODE_BITS: u32 = 8;
/// Statements and expressions of one meaning after inlining and unrolling.
pub const MEANING_NODES: usize = 20_000;
/// Nesting depth of expressions, blocks and calls in one meaning once functions are inlined.
pub const MEANING_DEPTH: usize = 136;
/// Statements and expressions of all meanings together.
pub const TOTAL_NODES: usize = 4_000_000;
/// Cells that a definition sets at reset.
pub const CONTENTS: usize = 1 << 16;
/// Pixels of a display in one direction.
pub const DISPLAY: u64 = 1_024;
/// Keys of a keypad.
pub const KEYS: u64 = 256;
/// Address bits of a memory that is kept in one piece or has a page table. With more address bits, up to the 64 of any
/// value, a memory finds its pages by number.
pub const TABLE_ADDRESS_BITS: u32 = 32;
/// Cells of a memory kept in one piece; larger ones are kept in pages.
pub const FLAT_CELLS: u64 = 1 << 20;
/// Bytes of a loaded image.
pub const IMAGE_BYTES: u64 = 1 << 28;
/// Bytes of a file of test vectors.
pub const VECTOR_BYTES: u64 = 1 << 30;
/// Diagnostics of one run.
pub const DIAGNOSTICS: usize = 100;

/// Bytes of one assembly source.
pub const SOURCE_BYTES: usize = 1 << 28;
/// Files of one program.
pub const SOURCE_FILES: usize = 1_000;
/// Nesting depth of includes.
pub const INCLUDE_DEPTH: usize = 32;
/// Nesting depth of macros and repetitions.
pub const MACRO_DEPTH: usize = 64;
/// Macro calls and turns of repetitions in one program.
pub const EXPANSIONS: usize = 2_000_000;
/// Turns of one repetition.
pub const REPETITIONS: i128 = 1_000_000;
/// Bytes of text that macros, repetitions and includes read again.
pub const EXPANDED_BYTES: usize = 1 << 28;
/// Words and marks of one line after macro expansion, and those of all arguments of open macros together.
pub const LINE_TOKENS: usize = 1 << 20;
/// Numbers, names and operators in all expressions of a program.
pub const EXPRESSION_NODES: usize = 1 << 26;
/// Consecutive passes over a program in which addresses change and no encoding grows.
pub const LAYOUT_PASSES: usize = 64;
/// Lines visited, counted again in each pass, before every instruction takes its longest encoding.
pub const LAYOUT_VISITS: usize = 1 << 30;
/// Cells of an image; each takes eight bytes.
pub const IMAGE_CELLS: u64 = IMAGE_BYTES / 8;
/// Items of a program: lines with an effect.
pub const PROGRAM_ITEMS: usize = 50_000_000;
