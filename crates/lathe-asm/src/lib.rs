//! Assembler and disassembler.
