//! Guest memory between guard pages: should compiled code make a mistake, an access a little beyond either end stops
//! the process instead of reaching the host's data.
//!
//! This is the second line of defence. The first is the mask that every address goes through.

use lathe_vm::memory::CellStorage;

/// Bytes of the inaccessible pages on either side of guest memory.
const GUARD: usize = 1 << 16;

/// Makes room for this many cells between guard pages, all zero; `None` if the system refuses. The system provides
/// memory only for pages that are touched, so there may be more room than memory.
pub(crate) fn room<T: Plain>(count: usize) -> Option<Box<dyn CellStorage<T>>> {
    let mapping = mapping::Mapping::new(count.checked_mul(size_of::<T>())?, GUARD)?;
    Some(Box::new(Guarded { mapping, count, cells: std::marker::PhantomData }))
}

struct Guarded<T> {
    mapping: mapping::Mapping,
    count: usize,
    cells: std::marker::PhantomData<T>,
}

impl<T: Plain> CellStorage<T> for Guarded<T> {
    fn cells(&self) -> &[T] {
        T::view(&self.mapping, self.count)
    }

    fn cells_mut(&mut self) -> &mut [T] {
        T::view_mut(&mut self.mapping, self.count)
    }
}

/// Numbers for which any bytes are a valid value.
pub(crate) trait Plain: Copy + Send + Sync + 'static {
    /// Returns the first `count` numbers of a mapping, which must be large enough.
    fn view(mapping: &mapping::Mapping, count: usize) -> &[Self] {
        assert!(count * size_of::<Self>() <= mapping.length());
        // SAFETY: the mapping has room for this many, as was just checked, begins at a page and is therefore aligned,
        // is readable as long as it is borrowed, and any bytes are a valid value.
        unsafe { std::slice::from_raw_parts(mapping.start().cast(), count) }
    }

    /// Returns the first `count` numbers of a mapping, which must be large enough, for writing.
    fn view_mut(mapping: &mut mapping::Mapping, count: usize) -> &mut [Self] {
        assert!(count * size_of::<Self>() <= mapping.length());
        // SAFETY: as above, and writable; the mapping is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(mapping.start().cast(), count) }
    }
}

impl Plain for u8 {}
impl Plain for u64 {}

#[cfg(unix)]
mod mapping {
    use std::ptr::{NonNull, null_mut};

    /// From this many bytes on, a mapping is made only if there is room for others afterwards: where the address space
    /// is limited, the rest of the program must not run out of it.
    const LARGE: usize = 1 << 26;
    /// Bytes that must be left for others.
    const HEADROOM: usize = 1 << 30;

    /// Whether this many bytes of address space are left.
    fn is_left(length: usize) -> bool {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new private mapping at an address of the system's choice touches nothing that exists.
        let probe = unsafe { libc::mmap(null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        if probe == libc::MAP_FAILED {
            return false;
        }
        // SAFETY: these are the pages of the mapping made above, which nobody else knows.
        unsafe { libc::munmap(probe, length) };
        true
    }

    /// Readable and writable pages between pages that are neither.
    pub(crate) struct Mapping {
        /// The first byte of the first guard page.
        whole: NonNull<u8>,
        guard: usize,
        length: usize,
    }

    // SAFETY: a mapping owns its pages; nobody else knows their address.
    unsafe impl Send for Mapping {}
    // SAFETY: through a shared mapping its pages are only read.
    unsafe impl Sync for Mapping {}

    impl Mapping {
        /// Maps at least `length` bytes, all zero, with `guard` bytes on either side, which must be whole pages.
        pub(crate) fn new(length: usize, guard: usize) -> Option<Mapping> {
            let length = length.checked_next_multiple_of(guard)?;
            let total = length.checked_add(2 * guard)?;
            // Most of a large memory is never touched, so no swap space is reserved for it.
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new private mapping at an address of the system's choice touches nothing
            // that exists.
            let whole = unsafe { libc::mmap(null_mut(), total, libc::PROT_NONE, flags, -1, 0) };
            if whole == libc::MAP_FAILED {
                return None;
            }
            let mapping = Mapping { whole: NonNull::new(whole.cast())?, guard, length };
            if length >= LARGE && !is_left(HEADROOM) {
                return None;
            }
            // SAFETY: these are pages of the mapping made above, which nobody else knows.
            let changed = unsafe { libc::mprotect(mapping.start().cast(), length, libc::PROT_READ | libc::PROT_WRITE) };
            mapping.keep_pages_small();
            (changed == 0).then_some(mapping)
        }

        /// Asks for small pages: a few cells far apart should not cost megabytes. If the system does not comply, they
        /// do.
        fn keep_pages_small(&self) {
            #[cfg(target_os = "linux")]
            // SAFETY: these are pages of this mapping, and the advice does not change their content.
            unsafe {
                libc::madvise(self.start().cast(), self.length, libc::MADV_NOHUGEPAGE);
            }
        }

        /// Returns the first byte between the guard pages.
        pub(crate) fn start(&self) -> *mut u8 {
            // SAFETY: the guard pages are part of the mapping, so this stays within it.
            unsafe { self.whole.as_ptr().add(self.guard) }
        }

        pub(crate) fn length(&self) -> usize {
            self.length
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: the pages belong to this mapping alone, and all borrows of them have ended.
            unsafe { libc::munmap(self.whole.as_ptr().cast(), self.length + 2 * self.guard) };
        }
    }
}

#[cfg(not(unix))]
mod mapping {
    /// No mapping exists on this system: guest memory stays where it is.
    pub(crate) enum Mapping {}

    impl Mapping {
        pub(crate) fn new(_length: usize, _guard: usize) -> Option<Mapping> {
            None
        }

        pub(crate) fn start(&self) -> *mut u8 {
            match *self {}
        }

        pub(crate) fn length(&self) -> usize {
            match *self {}
        }
    }
}
