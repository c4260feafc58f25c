//! The real binary, in a fresh directory each time: what it prints, on which stream, and how it ends.

mod asm;
#[cfg(feature = "bench")]
mod bench;
mod check;
mod debug;
mod dis;
mod doc;
mod ends;
mod export;
mod first_steps;
mod fmt;
mod hdl;
mod import;
mod machines;
#[cfg(unix)]
mod pipes;
mod prove;
mod run;
mod suites;
mod test;
mod usage;
mod verify;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The engines of this build, by their names on the command line.
const ENGINES: &[&str] =
    if cfg!(feature = "jit") { &["auto", "interp", "fast", "jit"] } else { &["auto", "interp", "fast"] };

/// A fresh directory, and the binary to run in it.
struct Bench {
    directory: TempDir,
}

/// What a run of the binary left behind.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Bench {
        Bench { directory: tempfile::tempdir().unwrap() }
    }

    /// Creates a directory with one file in it.
    fn with(name: &str, content: impl AsRef<[u8]>) -> Bench {
        Bench::new().file(name, content)
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Bench {
        std::fs::write(self.path().join(name), content).unwrap();
        self
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Returns the names of all files in the directory, including temporary ones.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Prepares the binary with these arguments, empty standard input, and no colour setting.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        answer(self.command(arguments).output().unwrap())
    }

    /// Runs the same on every engine, and checks that all answers are equal.
    #[track_caller]
    fn run_on_all(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let on = |engine: &&str| self.run_with_input(&[arguments, &["--engine", *engine]].concat(), input);
        let mut answers = ENGINES.iter().map(on);
        let first = answers.next().expect("there are engines");
        answers.zip(&ENGINES[1..]).for_each(|(answer, engine)| assert_eq!(answer, first, "{engine}"));
        first
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A binary that ends before it has read everything closes the pipe, as it may.
        let _ = child.stdin.take().unwrap().write_all(input);
        answer(child.wait_with_output().unwrap())
    }
}

fn answer(output: std::process::Output) -> Answer {
    Answer {
        code: output.status.code().expect("it ended by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Answer {
    /// Checks that it ended with code 0 and printed nothing but an answer.
    fn succeeds(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Checks that it ended with this code, and complained on standard error with all of these words.
    fn complains(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing from:\n{}", self.err);
        }
    }

    /// Checks that it succeeded, and reported these files and nothing else on standard error.
    fn writes(self, names: &[&str]) {
        let told: String = names.iter().map(|name| format!("wrote {name}\n")).collect();
        assert_eq!((self.code, self.err.as_str(), self.out.as_str()), (0, told.as_str(), ""));
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out))
    }
}
