//! Signals that would end the process are put off while files take their names, so that either all
//! of them are new or none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// What the handlers share with the rest.
struct Shared {
    /// Whether a signal ends the process at once.
    at_once: Arc<AtomicBool>,
    /// The last signal that did not; 0 for none.
    waiting: Arc<AtomicUsize>,
}

static SHARED: LazyLock<Shared> = LazyLock::new(|| {
    let shared = Shared { at_once: Arc::new(AtomicBool::new(true)), waiting: Arc::default() };
    for signal in [SIGINT, SIGTERM] {
        // Where no handler can be installed, the signal ends the process as it always did.
        let _ = flag::register_conditional_default(signal, Arc::clone(&shared.at_once));
        let _ = flag::register_usize(signal, Arc::clone(&shared.waiting), signal as usize);
    }
    shared
});

/// Does something that Ctrl-C does not interrupt. If a signal came meanwhile, it ends the process
/// afterwards, and what was made is dropped before.
pub(crate) fn deferred<T>(work: impl FnOnce() -> T) -> T {
    SHARED.at_once.store(false, Ordering::SeqCst);
    let result = work();
    SHARED.at_once.store(true, Ordering::SeqCst);
    let signal = SHARED.waiting.swap(0, Ordering::SeqCst);
    if signal == 0 {
        return result;
    }
    drop(result);
    let _ = low_level::emulate_default_handler(signal as i32);
    std::process::exit(128 + signal as i32)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    const FOLDER: &str = "LATHE_TEST_SIGNALS";

    /// What the other test runs in a process of its own: a signal comes between two files.
    #[test]
    fn two_files_and_a_signal() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let write = |name: &str| std::fs::write(Path::new(&folder).join(name), "").unwrap();
        deferred(|| {
            write("first");
            low_level::raise(SIGTERM).unwrap();
            write("second");
        });
        write("after");
    }

    #[test]
    fn a_signal_waits_until_all_files_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "signals::tests::two_files_and_a_signal"]).env(FOLDER, folder.path());
        let status = child.output().unwrap().status;
        let mut left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!((left, status.signal()), (vec!["first".into(), "second".into()], Some(SIGTERM)));
    }
}
