//! Memory for the code of many regions, one after another. If each had pages of its own, all would begin at the same
//! offset in a page, and a program of a hundred regions would use more pages than the processor's TLB holds.
//!
//! A chunk of memory is mapped twice: at one address it is writable, at the other executable, so code can be added
//! while other code of the chunk runs on another thread. No address is both.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// Bytes of a chunk.
const CHUNK: usize = 1 << 18;
/// The most bytes of one piece of code; more would waste too much of a chunk.
const LARGEST: usize = CHUNK / 4;
/// Code begins at a cache line, so that adding code touches no line that is executed.
const LINE: usize = 64;

/// Places code in chunks, as long as the system provides such memory.
#[derive(Default)]
pub(crate) struct Space {
    chunk: Option<Arc<Chunk>>,
    /// Bytes of the chunk that are taken.
    taken: usize,
    /// The process that made the chunk: a forked process shares its pages, and puts its own code into a chunk of its
    /// own.
    process: u32,
    /// Whether the system has refused.
    is_refused: bool,
}

/// The place of some code. Its chunk stays as long as any code in it does.
pub(crate) struct InSpace {
    chunk: Arc<Chunk>,
    at: usize,
}

impl InSpace {
    /// Returns the address at which the code is executed.
    pub(crate) fn address(&self) -> *const u8 {
        self.chunk.executable.as_ptr().wrapping_add(self.at)
    }
}

impl Space {
    /// Places code after the code in the chunk; returns `None` if it is too large, or the system provides no memory for
    /// it.
    pub(crate) fn place(&mut self, code: &[u8]) -> Option<InSpace> {
        if code.len() > LARGEST || self.is_refused {
            return None;
        }
        let process = std::process::id();
        if self.taken + code.len() > CHUNK || self.process != process {
            self.chunk = None;
        }
        if self.chunk.is_none() {
            (self.chunk, self.taken, self.process) = (Chunk::new().map(Arc::new), 0, process);
            self.is_refused = self.chunk.is_none();
        }
        let (chunk, at) = (self.chunk.clone()?, self.taken);
        // SAFETY: these bytes were just checked to be within the chunk, and nobody uses them: only this space writes to
        // the chunk, it has given none of them to anybody, and its copy in a forked process, which has another id, has
        // begun another chunk.
        unsafe { chunk.writable.as_ptr().add(at).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        self.taken = (at + code.len()).next_multiple_of(LINE);
        Some(InSpace { chunk, at })
    }
}

/// Memory that is mapped twice.
struct Chunk {
    writable: NonNull<u8>,
    executable: NonNull<u8>,
}

// SAFETY: a chunk owns both of its mappings.
unsafe impl Send for Chunk {}
// SAFETY: through a shared chunk, only the space that made it writes, and only where nobody reads or executes.
unsafe impl Sync for Chunk {}

impl Chunk {
    fn new() -> Option<Chunk> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
        let first = unsafe { libc::mmap(null_mut(), CHUNK, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let writable = mapped(first)?;
        // SAFETY: these shared pages were just mapped. An old size of zero moves none of them, but maps them once more.
        let Some(executable) = mapped(unsafe { libc::mremap(first, 0, CHUNK, libc::MREMAP_MAYMOVE) }) else {
            unmap(writable);
            return None;
        };
        let chunk = Chunk { writable, executable };
        // SAFETY: these are pages that nobody else knows.
        let changed = unsafe { libc::mprotect(executable.as_ptr().cast(), CHUNK, libc::PROT_READ | libc::PROT_EXEC) };
        (changed == 0).then_some(chunk)
    }
}

/// Returns the mapping that the system has made, if it has.
fn mapped(at: *mut c_void) -> Option<NonNull<u8>> {
    if at == libc::MAP_FAILED { None } else { NonNull::new(at.cast()) }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        [self.writable, self.executable].into_iter().for_each(unmap);
    }
}

/// Unmaps a mapping of a chunk that nobody uses any more.
fn unmap(mapping: NonNull<u8>) {
    // SAFETY: `Chunk::new` made this mapping, with this length. Its only users own the chunk, and the chunk is gone.
    unsafe { libc::munmap(mapping.as_ptr().cast(), CHUNK) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lies_side_by_side_until_a_chunk_is_full() {
        let mut space = Space::default();
        let code = [0xC3; LINE + 1];
        let placed: Vec<InSpace> = (0..CHUNK / LINE).map(|_| space.place(&code).expect("there is room")).collect();
        let is_next = |pair: &&[InSpace]| {
            let is_behind = pair[0].at + 2 * LINE == pair[1].at;
            is_behind && Arc::ptr_eq(&pair[0].chunk, &pair[1].chunk)
        };
        let (next, others): (Vec<_>, Vec<_>) = placed.windows(2).partition(is_next);
        assert_eq!((next.len(), others.len()), (placed.len() - 2, 1), "one of them begins the second chunk");
        assert!(placed.iter().all(|placed| placed.at + code.len() <= CHUNK));
        assert!(space.place(&[0xC3; LARGEST + 1]).is_none());
    }

    /// Whether a chunk is mapped at this address.
    #[allow(clippy::disallowed_methods)]
    fn is_mapped(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
        let begins = |line: &str| line.split_once('-').and_then(|(first, _)| usize::from_str_radix(first, 16).ok());
        maps.lines().any(|line| line.contains("/dev/zero") && begins(line) == Some(address))
    }

    #[test]
    fn a_chunk_stays_as_long_as_anything_in_it() {
        let mut space = Space::default();
        let [first, second] = [(); 2].map(|()| space.place(&[0xC3]).expect("there is room"));
        let chunk = [first.chunk.writable, first.chunk.executable].map(|mapping| mapping.as_ptr().addr());
        drop((space, first));
        assert!(chunk.into_iter().all(is_mapped));
        drop(second);
        assert!(!chunk.into_iter().any(is_mapped));
    }
}
