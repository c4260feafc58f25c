//! What stands around the core on a chip: block RAM in lanes with the program in it, a serial port, a top module.

use lathe_isa::Isa;

use crate::shape::Shape;
use crate::{File, Program};

/// The files for a board.
pub(crate) fn files(_isa: &Isa, _shape: &Shape, _program: &Program) -> Vec<File> {
    Vec::new()
}
