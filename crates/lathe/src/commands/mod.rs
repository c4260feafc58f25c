//! The commands, one file each. Each takes its arguments and returns the exit code, or a failure that `main` reports.

mod asm;
#[cfg(feature = "bench")]
mod bench;
mod check;
mod console;
mod dap;
mod debug;
mod dis;
mod doc;
mod explain;
mod export;
mod fmt;
mod hdl;
mod hdl_report;
mod host;
mod import;
mod lsp;
mod machines;
mod new;
mod opcode_map;
mod prove;
mod run;
mod screen;
mod shell;
mod show;
mod stats;
mod test;
mod test_bench;
mod verify;

use crate::arguments::Command;
use crate::exit::{Exit, Failure};

/// The result of a command.
type Outcome = Result<Exit, Failure>;

/// Executes a command.
pub(crate) fn execute(command: Command) -> Outcome {
    match command {
        Command::Machines(arguments) => machines::execute(&arguments),
        Command::Show(arguments) => show::execute(&arguments),
        Command::New(arguments) => new::execute(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Asm(arguments) => asm::execute(&arguments),
        Command::Dis(arguments) => dis::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Test(arguments) => test::execute(&arguments),
        Command::Debug(arguments) => debug::execute(&arguments),
        Command::Dap(arguments) => dap::execute(&arguments),
        Command::Verify(arguments) => verify::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
        Command::Lsp(_) => lsp::execute(),
        Command::Doc(arguments) => doc::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Fmt(arguments) => fmt::execute(&arguments),
        Command::Hdl(arguments) => hdl::execute(&arguments),
        Command::Prove(arguments) => prove::execute(&arguments),
        #[cfg(feature = "bench")]
        Command::Bench(arguments) => bench::execute(&arguments),
        #[cfg(not(feature = "bench"))]
        Command::Bench(_) => Err(Failure::usage("this build of Lathe has no `bench` command")
            .help("build it in: `cargo run --release -p lathe --features bench -- bench`")),
    }
}
