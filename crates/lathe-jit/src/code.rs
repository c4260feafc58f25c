//! Compiled code, and the only call into it.

use crate::context::Context;

/// A compiled region as a function of the context and the number of the block to begin with.
pub(crate) type Function = unsafe extern "C" fn(*mut Context, u32);

/// The code of one region, freed with it.
pub(crate) struct Code {
    function: Function,
    /// Where its blocks can be entered from the code of another region, in bytes after the beginning of the function.
    ways_in: Vec<u32>,
    /// The memory that holds the function.
    _memory: Box<dyn Send + Sync>,
}

impl Code {
    /// Wraps a function that exists as long as its memory does.
    pub(crate) fn new(function: Function, memory: impl Send + Sync + 'static) -> Self {
        Code { function, ways_in: Vec::new(), _memory: Box::new(memory) }
    }

    /// Adds the offsets at which the code of other regions can enter its blocks.
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(crate) fn with_ways_in(self, ways_in: Vec<u32>) -> Self {
        Code { ways_in, ..self }
    }

    /// Returns the address at which the code of another region enters a block, if it can.
    pub(crate) fn way_in(&self, block: u32) -> Option<usize> {
        self.ways_in.get(block as usize).map(|offset| self.function as usize + *offset as usize)
    }

    /// Runs the code, beginning with a block.
    ///
    /// # Safety
    /// All pointers of the context must be valid for as many registers, marks and cells as the instruction set has that
    /// the region was compiled for. Its links must lead to live code for the same instruction set, and to existing
    /// usages.
    pub(crate) unsafe fn call(&self, context: &mut Context, block: u32) {
        // SAFETY: the function is alive as long as `self` is, and the caller vouches for the code that links lead to.
        // It reaches registers at offsets below their number, and marks and cells at masked offsets; the caller vouches
        // for those, too.
        unsafe { (self.function)(context, block) }
    }
}
