//! Ctrl-C: the first one asks a run to end and to tell where it was, a second one ends the process.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::exit::Exit;

/// Whether somebody has pressed Ctrl-C; whoever has seen it takes it back.
pub(crate) fn pressed() -> Arc<AtomicBool> {
    static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let pressed = PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        // In this order: the second signal finds what the first one has set. Where they cannot be had,
        // Ctrl-C ends the process at once, as it does everywhere.
        let _ = flag::register_conditional_shutdown(SIGINT, Exit::Interrupted as i32, pressed.clone());
        let _ = flag::register(SIGINT, pressed.clone());
        pressed
    });
    pressed.clone()
}
