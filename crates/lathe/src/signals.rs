//! Ctrl-C and termination. Usually either ends the process at once. A run listens instead: the first Ctrl-C asks it to
//! stop and report where it was, a second one ends the process. While files are being renamed, both signals wait, so
//! that either all files are new or none; likewise while the debugger's screen is shown, which restores the terminal.
//! Work needed before the end, such as ending other programs, is done before either signal ends the process.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::exit::Exit;

/// What the handlers share with other code.
struct Shared {
    /// How many pieces of [deferred] work are in progress, one inside another.
    deferrals: AtomicUsize,
    /// Whether Ctrl-C ends the process at once.
    interrupt_ends: Arc<AtomicBool>,
    /// Whether SIGTERM ends the process at once.
    terminate_ends: Arc<AtomicBool>,
    /// The last signal; 0 for none.
    last: Arc<AtomicUsize>,
    /// Whether a run has been asked to stop.
    pressed: Arc<AtomicBool>,
    /// The handlers of a run, if it listens.
    listeners: Mutex<Vec<SigId>>,
    /// The work done [before the end](before_end).
    last_thing: OnceLock<fn()>,
    /// Held by code that the end of the process must not interrupt.
    unending: Mutex<()>,
}

static SHARED: LazyLock<Shared> = LazyLock::new(|| {
    let shared = Shared {
        deferrals: AtomicUsize::new(0),
        interrupt_ends: Arc::new(AtomicBool::new(true)),
        terminate_ends: Arc::new(AtomicBool::new(true)),
        last: Arc::default(),
        pressed: Arc::default(),
        listeners: Mutex::default(),
        last_thing: OnceLock::new(),
        unending: Mutex::default(),
    };
    for (signal, ends) in [(SIGINT, &shared.interrupt_ends), (SIGTERM, &shared.terminate_ends)] {
        // Where no handler can be installed, the signal ends the process as usual.
        let _ = flag::register_conditional_default(signal, Arc::clone(ends));
        let _ = flag::register_usize(signal, Arc::clone(&shared.last), signal as usize);
    }
    shared
});

/// Whether a [deferred] signal is waiting: long work had better stop.
pub(crate) fn is_waiting() -> bool {
    SHARED.last.load(Ordering::SeqCst) != 0
}

/// Returns the flag that Ctrl-C sets; the caller clears it. From the first call on, Ctrl-C ends the process only when
/// pressed again.
pub(crate) fn pressed() -> Arc<AtomicBool> {
    SHARED.listen();
    SHARED.pressed.clone()
}

/// Does this work before a signal ends the process, from now on. A handler may do almost nothing, so a separate thread
/// waits for each signal. Only the first call has an effect: the process has one such piece of work.
pub(crate) fn before_end(work: fn()) {
    let mut is_new = false;
    SHARED.last_thing.get_or_init(|| {
        is_new = true;
        work
    });
    if is_new {
        for (signal, ends) in [(SIGINT, &SHARED.interrupt_ends), (SIGTERM, &SHARED.terminate_ends)] {
            // Where no thread can wait for a signal, it ends the process as usual.
            if wait_for(signal).is_ok() {
                ends.store(false, Ordering::SeqCst);
            }
        }
    }
}

#[cfg(unix)]
fn wait_for(signal: i32) -> std::io::Result<()> {
    use std::io::Read as _;
    let (mut hears, tells) = std::os::unix::net::UnixStream::pair()?;
    low_level::pipe::register(signal, tells)?;
    std::thread::Builder::new().spawn(move || {
        if hears.read_exact(&mut [0]).is_ok() {
            SHARED.do_last_thing();
            let _unending = SHARED.unending.lock();
            end(signal)
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn wait_for(_: i32) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Ends the process as the signal would.
fn end(signal: i32) -> ! {
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

/// Does work that no signal interrupts. A signal that came meanwhile takes effect afterwards; if it ends the process,
/// the result is dropped first. Inside other deferred work, signals wait until that is done.
pub(crate) fn deferred<T>(work: impl FnOnce() -> T) -> T {
    let is_inner = SHARED.deferrals.fetch_add(1, Ordering::SeqCst) > 0;
    let result = if is_inner { work() } else { until_done(work) };
    SHARED.deferrals.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Does outermost deferred work.
fn until_done<T>(work: impl FnOnce() -> T) -> T {
    let _unending = SHARED.unending.lock();
    SHARED.last.store(0, Ordering::SeqCst);
    let listened = SHARED.stop_listening();
    SHARED.interrupt_ends.store(false, Ordering::SeqCst);
    SHARED.terminate_ends.store(false, Ordering::SeqCst);
    let result = work();
    let at_once = SHARED.last_thing.get().is_none() || cfg!(not(unix));
    SHARED.terminate_ends.store(at_once, Ordering::SeqCst);
    if listened {
        SHARED.listen();
    } else {
        SHARED.interrupt_ends.store(at_once, Ordering::SeqCst);
    }
    let signal = SHARED.last.swap(0, Ordering::SeqCst) as i32;
    let heard = listened && signal == SIGINT && !SHARED.pressed.swap(true, Ordering::SeqCst);
    if signal == 0 || heard {
        return result;
    }
    drop(result);
    SHARED.do_last_thing();
    end(signal)
}

impl Shared {
    fn do_last_thing(&self) {
        if let Some(work) = self.last_thing.get() {
            work();
        }
    }

    fn listen(&self) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if listeners.is_empty() {
            // In this order: the second signal's handler checks the flag that the first signal's handler sets.
            let second = flag::register_conditional_shutdown(SIGINT, Exit::Interrupted as i32, self.pressed.clone());
            let first = flag::register(SIGINT, self.pressed.clone());
            listeners.extend([second, first].into_iter().flatten());
            self.interrupt_ends.store(listeners.is_empty(), Ordering::SeqCst);
        }
    }

    /// Stops listening; returns whether a run did listen.
    fn stop_listening(&self) -> bool {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.drain(..).filter(|id| low_level::unregister(*id)).count() > 0
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    const FOLDER: &str = "LATHE_TEST_SIGNALS";

    /// Run by another test in a separate process: a signal comes between two files.
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

    /// Also run in a separate process: a file is written while a screen is shown, which must be left properly after a
    /// signal.
    #[test]
    fn a_file_inside_of_a_screen_and_a_signal() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let write = |name: &str| std::fs::write(Path::new(&folder).join(name), "").unwrap();
        deferred(|| {
            deferred(|| {
                low_level::raise(SIGTERM).unwrap();
                write("file");
            });
            assert!(is_waiting());
            deferred(|| write("second file"));
            low_level::raise(SIGTERM).unwrap();
            write("terminal restored");
        });
        write("after");
    }

    /// Runs a test of this module in a separate process; returns what it leaves in a folder, and the signal that ended
    /// it.
    fn left_by(test: &str) -> (Vec<String>, Option<i32>) {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", &format!("signals::tests::{test}")]).env(FOLDER, folder.path());
        let status = child.output().unwrap().status;
        let names = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<_> = names.collect();
        left.sort();
        (left, status.signal())
    }

    #[test]
    fn a_signal_waits_until_all_files_are_there() {
        let left = left_by("two_files_and_a_signal");
        assert_eq!(left, (vec!["first".into(), "second".into()], Some(SIGTERM)));
    }

    #[test]
    fn a_file_written_meanwhile_does_not_let_signals_in() {
        let left = left_by("a_file_inside_of_a_screen_and_a_signal");
        assert_eq!(left, (vec!["file".into(), "second file".into(), "terminal restored".into()], Some(SIGTERM)));
    }
}
