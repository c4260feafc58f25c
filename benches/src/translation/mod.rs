//! A static translation of a program to C, compiled with `gcc -O3`: a fair upper bound of what compiling the same
//! machine code can gain.
//!
//! It runs in a process of its own, which times itself; starting it is not counted.

mod emit;
mod profile;

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lathe_asm::Image;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_vm::State;

use crate::measure::Timed;
use profile::Profile;

/// Why there is no translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTranslation {
    /// There is no gcc here.
    NoCompiler,
    /// The program changes its own code.
    ChangesItself,
    /// The program ends, or does what only an engine can do.
    Stops,
    /// A memory is too large for an array.
    LargeMemory,
    /// gcc or the temporary folder failed.
    Failed(String),
}

impl fmt::Display for NoTranslation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTranslation::NoCompiler => write!(f, "there is no gcc here"),
            NoTranslation::ChangesItself => write!(f, "the program changes its own code"),
            NoTranslation::Stops => write!(f, "the program ends, or does what only an engine can do"),
            NoTranslation::LargeMemory => write!(f, "the machine has a memory that is too large for it"),
            NoTranslation::Failed(why) => write!(f, "{why}"),
        }
    }
}

/// A translated program. Its files are deleted with it.
#[derive(Debug)]
pub struct Translation {
    folder: PathBuf,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    /// The program counter.
    pub pc: u64,
    /// A digest of registers and memories.
    pub digest: u64,
}

impl Translation {
    /// Translates and compiles a program.
    ///
    /// # Errors
    /// If it cannot be translated, or there is no gcc.
    pub fn new(isa: &Arc<Isa>, image: &Image) -> Result<Translation, NoTranslation> {
        if !has_compiler() {
            return Err(NoTranslation::NoCompiler);
        }
        let text = emit::emit(isa, &Profile::of(isa, image)?);
        let translation = Translation { folder: fresh_folder().map_err(failed)? };
        let source = translation.folder.join("program.c");
        std::fs::write(&source, text).map_err(failed)?;
        let compiled =
            Command::new("gcc").args(["-O3", "-w", "-o"]).arg(translation.executable()).arg(&source).output();
        let compiled = compiled.map_err(failed)?;
        let complaint = || NoTranslation::Failed(String::from_utf8_lossy(&compiled.stderr).into_owned());
        compiled.status.success().then_some(translation).ok_or_else(complaint)
    }

    /// Runs it for at least this many steps, up to the next backward jump.
    ///
    /// # Errors
    /// If the process cannot be run.
    pub fn run(&self, steps: u64) -> Result<(Timed, Remains), NoTranslation> {
        let output = Command::new(self.executable()).arg(steps.to_string()).output().map_err(failed)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        let &[done, nanoseconds, pc, digest] = numbers.as_slice() else {
            return Err(NoTranslation::Failed(format!("the translation ended with {}", output.status)));
        };
        Ok((Timed { steps: done, seconds: nanoseconds as f64 * 1e-9, compiling: 0.0 }, Remains { pc, digest }))
    }

    fn executable(&self) -> PathBuf {
        self.folder.join("program")
    }
}

impl Drop for Translation {
    fn drop(&mut self) {
        // A folder left among the temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the same result for an engine's state.
pub fn remains(isa: &Isa, state: &State) -> Remains {
    let (basis, prime) = emit::DIGEST;
    let add = |digest: u64, value: u64| (digest ^ value).wrapping_mul(prime);
    let registers = state.registers().iter().fold(basis, |digest, value| add(digest, *value));
    let memories = (0..isa.memories.len() as u32).map(MemoryId);
    let digest = memories.fold(registers, |digest, id| {
        let memory = state.memory(id);
        (0..=isa.memory(id).last()).fold(digest, |digest, address| add(digest, memory.get(address)))
    });
    Remains { pc: state.pc, digest }
}

fn has_compiler() -> bool {
    Command::new("gcc").arg("--version").output().is_ok_and(|output| output.status.success())
}

fn fresh_folder() -> std::io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("lathe-bench-{}-{number}", std::process::id()));
    std::fs::create_dir(&folder)?;
    Ok(folder)
}

fn failed(error: std::io::Error) -> NoTranslation {
    NoTranslation::Failed(error.to_string())
}
