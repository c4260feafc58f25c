//! How long it takes from the start of the process to the first instruction of the guest.
//!
//! `lathe run --max-steps 1` is timed from outside, including the end of the process. So reading and checking the
//! definition, assembling the program, making the engine and executing one instruction take less than the time shown.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 50;
const GOAL: Duration = Duration::from_millis(10);

/// Measures every machine that ships.
pub(crate) fn measure() -> io::Result<()> {
    let binary = build()?;
    let source = std::env::temp_dir().join(format!("lathe-startup-{}.asm", std::process::id()));
    println!("{:<10} {:>10} {:>10}   goal: less than {GOAL:?}", "machine", "best", "median");
    for machine in lathe_machines::ALL {
        std::fs::write(&source, format!(".machine {}\n.cell 0\n", machine.name))?;
        let mut times = (0..ROUNDS).map(|_| once(&binary, &source)).collect::<io::Result<Vec<Duration>>>()?;
        times.sort_unstable();
        let verdict = if times[ROUNDS / 2] < GOAL { "met" } else { "missed" };
        println!("{:<10} {:>7.2} ms {:>7.2} ms   {verdict}", machine.name, ms(times[0]), ms(times[ROUNDS / 2]));
    }
    std::fs::remove_file(&source)
}

fn once(binary: &Path, source: &Path) -> io::Result<Duration> {
    let start = Instant::now();
    let mut command = Command::new(binary);
    command.arg("run").arg(source).args(["--max-steps", "1"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let code = command.status()?.code();
    let time = start.elapsed();
    // Halted, faulted, or stopped by the limit: it has reached the first instruction.
    match code {
        Some(0 | 3 | 4) => Ok(time),
        code => Err(io::Error::other(format!("lathe run ended with {code:?}"))),
    }
}

/// Builds the binary that users have, and returns its path.
fn build() -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "-p", "lathe", "--message-format", "json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<serde_json::Value>();
    let made = messages.flatten().filter_map(|message| message["executable"].as_str().map(PathBuf::from)).last();
    made.ok_or_else(|| io::Error::other("the binary could not be built"))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
