//! The real binary, in a fresh directory each time: what it prints, where, and how it ends.

mod check;
mod machines;
mod run;
mod usage;
mod verify;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory of its own, and the binary to run in it.
struct Bench {
    directory: TempDir,
}

/// What a run of the binary left behind.
struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Bench {
        Bench { directory: tempfile::tempdir().unwrap() }
    }

    /// A directory with one file in it.
    fn with(name: &str, content: impl AsRef<[u8]>) -> Bench {
        Bench::new().file(name, content)
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Bench {
        std::fs::write(self.path().join(name), content).unwrap();
        self
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The binary with these arguments, nothing on standard input, and no wish about colours.
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

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A binary that ends before it has read everything closes the pipe; that is its right.
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
    /// Ends with this code, and says nothing else than an answer.
    fn succeeds(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Ends with this code, and complains on standard error with all of these words.
    fn complains(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing from:\n{}", self.err);
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out))
    }
}
