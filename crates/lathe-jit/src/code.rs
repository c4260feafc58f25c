//! Compiled code, and the only call into it.

use crate::context::Context;

/// What a region is compiled to: it takes the context, and the number of the block to begin with.
pub(crate) type Function = unsafe extern "C" fn(*mut Context, u32);

/// The code of one region, freed with it.
pub(crate) struct Code {
    function: Function,
    /// Where its blocks can be entered from the code of another region: so many bytes after the function begins.
    ways_in: Vec<u32>,
    /// What the function lives in.
    _memory: Box<dyn Send + Sync>,
}

impl Code {
    /// A function that is there as long as its memory is.
    pub(crate) fn new(function: Function, memory: impl Send + Sync + 'static) -> Self {
        Code { function, ways_in: Vec::new(), _memory: Box::new(memory) }
    }

    /// The same, whose blocks can be entered from the code of other regions.
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(crate) fn with_ways_in(self, ways_in: Vec<u32>) -> Self {
        Code { ways_in, ..self }
    }

    /// Where a block is entered from the code of another region, if it can be.
    pub(crate) fn way_in(&self, block: u32) -> Option<usize> {
        self.ways_in.get(block as usize).map(|offset| self.function as usize + *offset as usize)
    }

    /// Runs the code from a block on.
    ///
    /// # Safety
    /// All pointers of the context must be valid for as many registers, marks and cells as the
    /// instruction set has that the region was compiled for. Its links must lead to code for the same one that is alive, and to usages
    /// that are there.
    pub(crate) unsafe fn call(&self, context: &mut Context, block: u32) {
        // SAFETY: the function is alive as long as `self` is, and what it leads to is alive as the caller says. It reaches
        // registers at offsets below their number, and marks and cells at masked offsets; the caller vouches for those.
        unsafe { (self.function)(context, block) }
    }
}
