//! The functions that WebAssembly exports: the only place in this crate where the compiler requires `unsafe`.
//!
//! A page calls `lathe_room(length)`, writes the bytes of its request to the address returned, calls `lathe_answer()`,
//! and reads the number of bytes returned from where `lathe_text()` points.

#![allow(unsafe_code, reason = "an exported name must be told to be unique; nothing here follows a pointer")]

use std::cell::RefCell;

use crate::Workbench;

thread_local! {
    static BENCH: RefCell<Workbench> = RefCell::default();
    /// The request, then the answer to it.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request of this many bytes, and returns its address.
// SAFETY: no other function of the module has this name. The pointer is into a vector that stays as
// it is until the next call, and WebAssembly runs one call at a time.
#[unsafe(no_mangle)]
extern "C" fn lathe_room(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        text.clear();
        text.resize(length, 0);
        text.as_mut_ptr()
    })
}

/// Answers the request that was written; returns the length of the answer.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn lathe_answer() -> usize {
    let request = TEXT.take();
    let answer = BENCH.with_borrow_mut(|bench| bench.answer(&String::from_utf8_lossy(&request)));
    TEXT.with_borrow_mut(|text| {
        *text = answer.into_bytes();
        text.len()
    })
}

/// Returns the address of the answer.
// SAFETY: no other function of the module has this name. The pointer is used before the next call.
#[unsafe(no_mangle)]
extern "C" fn lathe_text() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}
