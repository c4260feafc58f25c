//! The host as the compiler: it instantiates modules for this program, which is WebAssembly itself.
//!
//! The host provides two functions. One instantiates a module with this program's memory, puts its function into this
//! program's table, and returns the index; a function pointer is an index into that table. The other empties the place.

use lathe_isa::Isa;

use super::module;
use crate::code::{Code, Function};
use crate::region::Region;
use crate::shared::Effort;

#[link(wasm_import_module = "lathe")]
unsafe extern "C" {
    /// Instantiates the module in these bytes. Returns the index of its function in the table, or 0 if this failed.
    fn compile(bytes: *const u8, length: usize) -> usize;
    /// Gives up a place in the table.
    fn release(place: usize);
}

/// The compiler, which keeps nothing from one compilation to the next.
pub(crate) struct HostCompiler;

/// The place of a function in the table, given up with it.
struct TablePlace(usize);

impl HostCompiler {
    /// Compiling an instruction takes about as long as interpreting it this often...
    pub(crate) const QUICK: u32 = 6_000;
    /// ...and compiling it again pays after this many times as many executions.
    pub(crate) const BEST: u64 = 16;

    /// Creates the compiler. There always is a host.
    pub(crate) fn new() -> Option<HostCompiler> {
        Some(HostCompiler)
    }

    /// Compiles a region; `None` if the host refuses it. The host decides how much effort it makes.
    pub(crate) fn compile(&mut self, isa: &Isa, region: &Region, _: Effort) -> Option<Code> {
        let bytes = module(isa, region);
        // SAFETY: the host reads these bytes and nothing else, and is done with them when it returns.
        let place = unsafe { compile(bytes.as_ptr(), bytes.len()) };
        if place == 0 {
            return None;
        }
        // SAFETY: the host has put the function of the module there, whose parameters are two 32-bit numbers, without a
        // result: this type, in WebAssembly's C convention. Calling a function of another type would stop the program.
        let function = unsafe { std::mem::transmute::<usize, Function>(place) };
        Some(Code::new(function, TablePlace(place)))
    }
}

impl Drop for TablePlace {
    fn drop(&mut self) {
        // SAFETY: the function is not running, because running it borrows its owner, and nobody else knows its place.
        unsafe { release(self.0) }
    }
}
