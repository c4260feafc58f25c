//! Answers requests, one per line, as the WebAssembly module does; `web/tests/agreement.mjs` compares the two.

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let mut bench = lathe_web::Workbench::default();
    let mut output = std::io::stdout().lock();
    for request in std::io::stdin().lock().lines() {
        writeln!(output, "{}", bench.answer(&request?))?;
    }
    Ok(())
}
