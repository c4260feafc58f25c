//! What can be asked on the command line. Each flag is here once, with its help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use lathe_embed::EngineKind;

use crate::exit::Failure;
use crate::program::Program;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "lathe",
    version,
    about = "Turn an instruction-set table into a working computer",
    after_help = AFTER_HELP,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

impl Color {
    /// Applies this choice to all later output.
    pub(crate) fn apply(self) {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

const AFTER_HELP: &str = "\
Examples:
  lathe new mine8                     Start a machine of your own
  lathe machines                      Which machines come with Lathe
  lathe check quad8 --map             Look at one of them, with its opcode map
  lathe check mine.isa                Check a definition of your own
  lathe run hello.asm                 Assemble a program and run it
  lathe debug hello.asm               Look inside while it runs, forwards and backwards
  lathe asm hello.asm --to listing    Assemble it into a file
  lathe dis hello.bin -m quad8        Disassemble it again
  lathe fmt mine.isa hello.asm        Align the columns of definitions and programs
  lathe test                          Run the programs here and check their expectations
  lathe doc -m quad8 -o quad8.html    Write the machine's datasheet
  lathe export customasm -m quad8     Write the machine for another tool
  lathe import customasm rules.asm    Start a definition from another tool's rules
  lathe hdl -m quad8 -o hardware      Write the machine as Verilog
  lathe prove -m quad8                Prove that this Verilog does what the definition says

Exit codes:
  0  done; a run: the machine halted
  1  the input is wrong: source, definition, image; or a test, a vector or an expectation failed
  2  wrong usage
  3  the machine faulted, or a test program reported a failure
  4  the step limit was reached
  130  interrupted with Ctrl-C or Esc";

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(New),
    Machines(Machines),
    Show(Show),
    Check(Check),
    Asm(Asm),
    Dis(Dis),
    Run(Run),
    Test(Test),
    Debug(Debug),
    Dap(Dap),
    Verify(Verify),
    Explain(Explain),
    Completions(Completions),
    Man(Man),
    Fmt(Fmt),
    Doc(Doc),
    Export(Export),
    Import(Import),
    Hdl(Hdl),
    Prove(Prove),
    Lsp(Lsp),
    #[cfg(feature = "bench")]
    Bench(Bench),
    #[cfg(not(feature = "bench"))]
    #[command(hide = true)]
    Bench(NoBench),
}

impl Command {
    /// Returns the format of the answer.
    pub(crate) fn format(&self) -> Format {
        match self {
            Command::New(arguments) => arguments.format.format,
            Command::Machines(arguments) => arguments.format.format,
            Command::Show(arguments) => arguments.format.format,
            Command::Check(arguments) => arguments.format.format,
            Command::Asm(arguments) => arguments.answer(),
            Command::Dis(arguments) => arguments.format.format,
            Command::Run(arguments) => arguments.format,
            Command::Test(arguments) if arguments.format == TestFormat::Json => Format::Json,
            Command::Verify(arguments) => arguments.format.format,
            Command::Explain(arguments) => arguments.format.format,
            Command::Debug(arguments) => arguments.format,
            Command::Fmt(arguments) => arguments.format.format,
            Command::Doc(arguments) => arguments.answer(),
            Command::Export(arguments) => arguments.format.format,
            Command::Import(arguments) => arguments.format.format,
            Command::Hdl(arguments) => arguments.format.format,
            Command::Prove(arguments) => arguments.format.format,
            #[cfg(feature = "bench")]
            Command::Bench(arguments) => arguments.format.format,
            _ => Format::Text,
        }
    }
}

/// Stands in for `lathe bench` in builds that cannot measure, so that whoever looks for it learns how
/// to get it.
#[cfg(not(feature = "bench"))]
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct NoBench {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}

/// List the machines that come with Lathe
#[derive(Debug, Args)]
#[command(after_help = "\
Each of these names can be given wherever a machine is asked for, and so can a file of your own:
  lathe check hex8
  lathe run program.bin -m hex8
  lathe run program.bin -m mine.isa")]
pub(crate) struct Machines {
    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Make a folder with a small machine that works, a program and a test
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe new mine8        Make mine8/mine8.isa, mine8/hello.asm and mine8/README.md
  cd mine8
  lathe run hello.asm    It works; now change it")]
pub(crate) struct New {
    /// The name of the machine, and of the folder
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Show a machine: its definition, one of its instructions, its sample programs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe show quad8                      Print the whole definition
  lathe show quad8 add                  Print one row, with its bits, operands and examples
  lathe show quad8 --programs           List the sample programs
  lathe show quad8 --programs hello     Print one of them")]
pub(crate) struct Show {
    /// The machine: one that comes with Lathe, or a file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) machine: String,

    /// An instruction: its mnemonic, or its whole syntax as the definition has it
    pub(crate) row: Option<String>,

    /// List the sample programs that come with the machine, or print one
    #[arg(long, value_name = "NAME", num_args = 0..=1, conflicts_with = "row")]
    pub(crate) programs: Option<Option<String>>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Explain a diagnostic, with a wrong and a right example
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe explain E401    What the error means, and how to fix it
  lathe explain         List all codes")]
pub(crate) struct Explain {
    /// The code, as in `error[E401]` [default: list all of them]
    pub(crate) code: Option<String>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe completions bash > ~/.local/share/bash-completion/completions/lathe
  lathe completions fish > ~/.config/fish/completions/lathe.fish
  lathe completions zsh > ~/.zfunc/_lathe")]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print a manual page, or write all of them into a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe man run | man -l -                 Read the page of `lathe run`
  lathe man -o ~/.local/share/man/man1     Install all pages")]
pub(crate) struct Man {
    /// The command [default: lathe itself]
    pub(crate) command: Option<String>,

    /// Write all pages into this folder
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) output: Option<String>,
}

/// Check a definition and summarise it
///
/// Errors and warnings go to standard error, each with the place, the cause and a next step. A
/// definition without errors gets a summary on standard output: its instructions, its state, and
/// how many encodings are defined. Its examples are run as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe check mine.isa                 Check a file
  lathe check quad8 --map              Show which opcodes quad8 uses
  lathe check - < mine.isa             Check a definition from standard input
  lathe check mine.isa --fix           Apply the safe fixes
  lathe check mine.isa --format json   For editors and scripts

Exit code 0 if there is no error (warnings are allowed), 1 if there is.")]
pub(crate) struct Check {
    /// The definition: a file, the name of a machine that comes with Lathe, or - for standard input
    #[arg(value_name = "FILE|NAME")]
    pub(crate) definition: String,

    /// Also print the opcode map: one place for every value of the first cell
    #[arg(long)]
    pub(crate) map: bool,

    /// Check again whenever the file changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// Apply the safe fixes to the file, and report the rest
    #[arg(long)]
    pub(crate) fix: bool,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Assemble a program
///
/// The machine is named with -m, or by `.machine NAME` at the beginning of the source; a definition
/// NAME.isa beside the source is found automatically. Errors and warnings go to standard error, each
/// with the place, the cause and a next step. Nothing is written if there are errors.
///
/// Files named by `.include` and `.incbin` must lie in the folder of the source, or in --root.
#[derive(Debug, Args)]
#[command(after_help = asm_help())]
pub(crate) struct Asm {
    /// The source; - for standard input
    pub(crate) source: String,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// The file to write; - for standard output [default: beside the source, named after the format]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,

    /// The format to write, or several separated by commas [default: by the name of OUT, or bin]
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) to: Vec<String>,

    /// How to print the answer, text or json; any other value is taken as --to
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) format: Vec<String>,

    #[command(flatten)]
    pub(crate) assembly: AssemblyArguments,

    /// Assemble again whenever a file of the program changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// Let later lines replace earlier ones at the same address
    #[arg(long)]
    pub(crate) allow_overlap: bool,

    /// Write this memory only [default: all; formats for one memory make a file for each]
    #[arg(long, value_name = "NAME", help_heading = "Images")]
    pub(crate) memory: Option<String>,

    /// The value of cells that the program leaves open [default: 0]
    #[arg(long, value_name = "VALUE", value_parser = number, help_heading = "Images")]
    pub(crate) fill: Option<u64>,

    /// Make the image this many cells long
    #[arg(long, value_name = "CELLS", value_parser = number, help_heading = "Images")]
    pub(crate) size: Option<u64>,

    /// Write these addresses only, both ends included, as in 0x8000..0xFFFF
    #[arg(long, value_name = "FIRST..LAST", value_parser = range, help_heading = "Images")]
    pub(crate) range: Option<(u64, u64)>,

    /// Interleave the cells over this many chips, one file each
    #[arg(long, value_name = "CHIPS", value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "Images")]
    pub(crate) interleave: Option<u32>,

    /// Split wide cells into lanes of this many bits, one file each
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Images")]
    pub(crate) lane: Option<u32>,

    /// The name of the array in c, rust and vhdl [default: program]
    #[arg(long, value_name = "NAME", help_heading = "Images")]
    pub(crate) name: Option<String>,
}

impl Asm {
    /// Returns how to print the answer.
    pub(crate) fn answer(&self) -> Format {
        if self.format.iter().any(|name| name == "json") { Format::Json } else { Format::Text }
    }

    /// Returns the names of the formats to write.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &str> {
        let old = self.format.iter().filter(|name| !matches!(name.as_str(), "json" | "text"));
        self.to.iter().chain(old).flat_map(|list| list.split(',')).map(str::trim)
    }
}

fn asm_help() -> String {
    let formats: Vec<String> =
        lathe_asm::formats::Format::all().map(|format| format!("  {:<13} {}", format.name(), format.about())).collect();
    format!(
        "Examples:\n  lathe asm hello.asm                      Write hello.bin\n  \
         lathe asm hello.asm -o rom.hex           Intel HEX, by the name of the file\n  \
         lathe asm hello.asm --to bin,listing     Two files at once\n  \
         lathe asm hello.asm --to hexdump -o -    Look at it\n\nFormats for --to:\n{}",
        formats.join("\n")
    )
}

/// Disassemble a program: from an image back to assembly
///
/// Code is followed from the entry point through jumps and calls; what is not reached is data.
/// What is printed assembles to the same image again. Encodings that are not defined, or that the
/// assembler would write differently, are data with a comment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe dis program.bin -m hex8                 Follow the code from address 0
  lathe dis program.bin -m hex8 --linear        Treat everything as code
  lathe dis program.hex -m duo16 -o again.asm   Intel HEX, by the name of the file
  lathe dis program.lathe                       An image that knows its machine and its symbols")]
pub(crate) struct Dis {
    /// The image, or a source, which is assembled first; - for standard input
    pub(crate) image: String,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// Treat everything in the code memory as code
    #[arg(long)]
    pub(crate) linear: bool,

    /// Assume that a raw binary is loaded here [default: where the machine begins]
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    pub(crate) load_at: Option<u64>,

    /// Where execution begins [default: what the image says, or else the machine]
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    pub(crate) entry: Option<u64>,

    /// Names for addresses: a file of lines such as `main = 0x100`, or what `--to symbols-json` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) symbols: Option<String>,

    /// The format of the image, or asm for a source [default: by its content and name]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Run a program
///
/// The program is an assembly source (FILE.asm), which is assembled first, or an image: raw
/// binary, Intel HEX, S-record, $readmemh, Logisim, ELF, or Lathe's own. A raw binary is loaded
/// into the memory that holds code, where the machine begins at reset or where --load-at says; a cell
/// wider than 8 bits takes as many whole bytes as it needs, in the memory's own byte order.
///
/// Execution begins where --entry or the program says, or else where the machine does at reset; a
/// program that has nothing there begins at its lowest address. An ELF file with a symbol `tohost`
/// ends when it writes an odd number there: 1 is success, and 2 * N + 1 says that test N failed.
/// Even numbers ask for output on the console.
///
/// The machine's console is standard input and output. Input is read when the program asks for
/// it, and reads 0 after its end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe run hello.asm                              Assemble and run until the program halts
  lathe run hello.bin -m quad8                     The same with an image
  echo 'some input' | lathe run cat.bin -m quad8   Give it something to read
  lathe run loop.bin -m hex8 --max-steps 1000      Stop it after 1000 instructions
  lathe run sum.bin -m duo16 --state               Show the registers at the end
  lathe run test.bin -m mos6502 --entry 0x400      An image of all 64 KiB, started at 0x400
  lathe run test.elf -m rv32i                      What a compiler made
  lathe run game.ch8 -m chip8                      Show its display, take its keys
  lathe run sieve.asm --stats                      Report the speed

Where the final state goes:
  A machine without a console has nothing else to show, so its registers and all memory that is
  not zero are printed on standard output by themselves. A machine with a console keeps standard
  output for its program: --state prints the registers on standard error.
  --format json prints one line of JSON on standard output: how the run ended, registers, memory,
  and what the program wrote.

Whether a test program passed:
  lathe run 6502_functional_test.bin -m mos6502 --entry 0x400 --until 0x3469
  lathe run test.asm --expect-stop stuck@success
  lathe run test.gb -m sm83 --expect-output Passed
  lathe run test.ch8 -m chip8 --expect-screen test.txt
  An ELF file with a symbol `tohost`, such as those of riscv-tests, says so itself.

Engines:
  auto picks the fastest one of this build. The quick build that `cargo lathe` makes has no jit;
  `cargo install --path crates/lathe` makes one that has.

Exit code 0 if the machine halted, 1 if the image or the definition is wrong or the run did not
end as expected, 3 if the machine faulted or a test failed, 4 if --max-steps was reached, 130
after Ctrl-C. A jump to itself that changes nothing counts as halted; --expect-stop and
--format json tell the two apart.")]
pub(crate) struct Run {
    /// The program; - for standard input, which leaves the console nothing to read
    pub(crate) image: String,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// The format of the image, or asm for a source [default: by its content and name]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,

    /// Load a raw binary at this address [default: where the machine begins]
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    pub(crate) load_at: Option<u64>,

    /// Where execution begins: an address, or a name in the program [default: what the program says, or
    /// else the machine]
    #[arg(long, value_name = "ADDRESS|NAME")]
    pub(crate) entry: Option<String>,

    #[command(flatten)]
    pub(crate) assembly: AssemblyArguments,

    /// Stop after this many instructions [default: no limit]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) max_steps: Option<u64>,

    /// Memory limit of the machine, as in 64M: writing to more pages of a memory of over 2^20 cells is a
    /// fault [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Stop with success before the instruction at this address, or at a name in the program
    #[arg(long, value_name = "ADDRESS|NAME", help_heading = "How it ends")]
    pub(crate) until: Option<String>,

    /// Exit with 0 if the run ends this way, else with 1: halt, stuck (a jump to itself), fault or
    /// limit, and where, as in stuck@0x3469
    #[arg(long, value_name = "HOW[@PLACE]", help_heading = "How it ends")]
    pub(crate) expect_stop: Option<ExpectedEnd>,

    /// Exit with 1 unless the output contains this text
    #[arg(long, value_name = "TEXT", help_heading = "How it ends")]
    pub(crate) expect_output: Option<String>,

    /// Exit with 1 unless the display matches this file, written by --screen
    #[arg(long, value_name = "FILE", help_heading = "How it ends")]
    pub(crate) expect_screen: Option<String>,

    /// Run again whenever a file of the program changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// Trace every instruction and what it changed, to standard error or FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Trace")]
    pub(crate) trace: Option<Option<String>>,

    /// Begin the trace after this many steps, or at a name in the program
    #[arg(long, value_name = "STEP|NAME", help_heading = "Trace")]
    pub(crate) trace_from: Option<String>,

    /// Trace only the last N instructions of the run, however long it is
    #[arg(long, value_name = "N", value_parser = number, conflicts_with = "trace_from", help_heading = "Trace")]
    pub(crate) trace_last: Option<u64>,

    /// How to write the trace; json is one line for each instruction [default: as --format says]
    #[arg(long, value_name = "FORMAT", help_heading = "Trace")]
    pub(crate) trace_format: Option<Format>,

    /// The engine to use; all give the same results, at different speeds
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: Engine,

    /// Report the speed, on standard error: instructions, time, what was compiled
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print the final state
    #[arg(long)]
    pub(crate) state: bool,

    /// How to print the final state; json prints it even without --state
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) panel: PanelArguments,
}

/// How a run is expected to end.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedEnd {
    kind: ExpectedStop,
    /// An address, or a name in the program.
    place: Option<String>,
}

/// The ways a run can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedStop {
    Halt,
    Stuck,
    Fault,
    Limit,
}

impl ExpectedStop {
    const ALL: [ExpectedStop; 4] = [ExpectedStop::Halt, ExpectedStop::Stuck, ExpectedStop::Fault, ExpectedStop::Limit];

    /// Returns the word for it on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ExpectedStop::Halt => "halt",
            ExpectedStop::Stuck => "stuck",
            ExpectedStop::Fault => "fault",
            ExpectedStop::Limit => "limit",
        }
    }
}

impl ExpectedEnd {
    /// Resolves the place to an address of this program.
    pub(crate) fn resolve(&self, program: &Program) -> Result<(ExpectedStop, Option<u64>), Failure> {
        let place = self.place.as_deref().map(|place| program.address_of(place, "end")).transpose()?;
        Ok((self.kind, place))
    }
}

impl std::str::FromStr for ExpectedEnd {
    type Err = String;

    fn from_str(text: &str) -> Result<ExpectedEnd, String> {
        let (kind, place) = text.split_once('@').map_or((text, None), |(kind, place)| (kind, Some(place.to_owned())));
        let kind = ExpectedStop::ALL.into_iter().find(|known| known.name() == kind);
        let kind = kind.ok_or("a run ends with halt, stuck, fault or limit")?;
        Ok(ExpectedEnd { kind, place })
    }
}

impl std::fmt::Display for ExpectedEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.name())?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

/// Debug a program: stop it anywhere, look inside, run it backwards
///
/// On a terminal this opens the debugger's screen. With --batch, or where standard input is not
/// a terminal, it takes commands line by line and answers each; `help` lists them, and
/// docs/debugging.md explains them.
///
/// A session saved with the command `save FILE.session` is opened again like a program.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe debug hello.asm                            Assemble it and open the debugger
  lathe debug hello.asm --batch script.txt         Do what a script says, and print the answers
  echo 'who printed' | lathe debug hello.asm       Commands from standard input
  lathe debug hello.asm --batch s.txt --format json  One line of JSON for each command
  lathe debug bug.session                          Go on where a session was saved

Exit code 0 when it is done, 1 if a command of a script failed.")]
pub(crate) struct Debug {
    /// The program, as `lathe run` takes it, or a saved session
    pub(crate) image: String,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// The format of the image, or asm for a source [default: by its content and name]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,

    /// Load a raw binary at this address [default: where the machine begins]
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    pub(crate) load_at: Option<u64>,

    /// Where execution begins: an address, or a name in the program
    #[arg(long, value_name = "ADDRESS|NAME")]
    pub(crate) entry: Option<String>,

    #[command(flatten)]
    pub(crate) assembly: AssemblyArguments,

    /// The engine to use; all give the same results, at different speeds
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: Engine,

    /// Take commands from this file, - for standard input
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) batch: Option<String>,

    /// Serve gdb on this port of 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", conflicts_with_all = ["batch", "format"])]
    pub(crate) gdb: Option<u16>,

    /// Write a script for gdb that connects and knows labels and mnemonics
    #[arg(long, value_name = "FILE", requires = "gdb", conflicts_with = "batch")]
    pub(crate) gdb_script: Option<String>,

    /// What the program reads from its console [default: it waits for the command `input`]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<String>,

    /// How many MiB the history may take [default: 256]
    #[arg(long, value_name = "MIB", value_parser = number)]
    pub(crate) memory: Option<u64>,

    /// Memory limit of the machine, as in 64M: writing to more pages of a memory of over 2^20 cells is a
    /// fault [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Take no snapshots during the run; going back then replays from the beginning
    #[arg(long)]
    pub(crate) no_record: bool,

    /// How to print answers
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Serve editors: the debugger through the Debug Adapter Protocol
///
/// Speaks on standard input and output, as editors expect it, or on a port of this computer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe dap                  For an editor that starts the server itself
  lathe dap --listen 4711    For one that connects to a port; the token is printed

A client gives the token as `token` among the arguments of `initialize`. `launch` takes `program`
(a path), `machine`, `input`, `engine`, `stopOnEntry` and `noDebug`.")]
pub(crate) struct Dap {
    /// Listen on this port of 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) listen: Option<u16>,

    /// The token that clients must give [default: a random one, which is printed]
    #[arg(long, value_name = "TOKEN", requires = "listen")]
    pub(crate) token: Option<String>,
}

/// Displays, keypads and random numbers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Display and keys")]
pub(crate) struct PanelArguments {
    /// Write the display here when the program has ended: FILE.png for a picture, any other FILE for
    /// text, - for standard output [default: on a terminal it is shown while the program runs]
    #[arg(long, value_name = "FILE")]
    pub(crate) screen: Option<String>,

    /// Keys to press, one hexadecimal digit each; each is down for 1000 instructions, then up for 1000
    #[arg(long, value_name = "DIGITS")]
    pub(crate) keys: Option<String>,

    /// The seed of random numbers [default: 1]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) seed: Option<u64>,

    /// Instructions per second while the display is shown [default: 60 times what a timer waits for]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) speed: Option<u64>,
}

/// Run programs and check their expectations
///
/// Comments in the source say what a program must do, or a file beside it does:
///
///   ; expect: output "Hello\n"             what it prints
///   ; expect: a = 5, ram[table] = 1, 2     registers and memory at the end
///   ; expect: steps <= 1000                and cycles <= 1000
///   ; expect: ends fault                   or halted, stuck, limit; halting is expected anyway
///   ; input: "3 4\n"                       what it reads
///   ; case: another run                    what follows is for another run
///
/// A text of many lines follows `; expect: output` on lines that begin with `; |`. Beside NAME.asm,
/// NAME.expect holds the same statements without `; expect:`, NAME.out what it prints and NAME.in what
/// it reads.
///
/// Every program runs in a process of its own with limits, so one that hangs, prints for ever or
/// crashes harms no other.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  lathe test                                         All programs in this folder and below
  lathe test programs/sort.asm                       One of them
  lathe test submissions --expect task.expect        Each submission against one set of expectations
  lathe test submissions --expect task.expect --report grades.csv
  lathe test --report results.xml --shard 2/8        One of eight parts of it, for a CI server

Exit code 0 if all passed, 1 if one failed or there was nothing to test."
)]
pub(crate) struct Test {
    /// Programs, and folders of programs
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<String>,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// Expectations for every program, replacing its own
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<String>,

    /// The folder in which included files must lie [default: that of the source; with --expect, a
    /// source that shares its folder with others may include nothing]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<String>,

    /// How many programs to run at the same time [default: as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = at_once)]
    pub(crate) jobs: Option<usize>,

    /// Test only the K-th of N parts, as in 2/8
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub(crate) shard: Option<(usize, usize)>,

    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TestFormat,

    /// Also write them here: .xml for JUnit, .csv, .json or .txt. May be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<String>,

    /// Test again whenever a program changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// The engine to use; all give the same results, at different speeds
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: Engine,

    /// The most instructions per run
    #[arg(long, value_name = "N", default_value = "1_000_000_000", value_parser = number, help_heading = "Limits")]
    pub(crate) max_steps: u64,

    /// The most bytes of output per run
    #[arg(long, value_name = "BYTES", default_value = "1_000_000", value_parser = number, help_heading = "Limits")]
    pub(crate) max_output: u64,

    /// The most seconds per run
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = number, help_heading = "Limits")]
    pub(crate) max_time: u64,

    /// Memory limit of the machine: writing to more pages of a memory of over 2^20 cells is a fault
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size, help_heading = "Limits")]
    pub(crate) max_memory: u64,

    /// Tests what standard input says; `lathe test` starts such processes.
    #[arg(long, hide = true)]
    pub(crate) worker: bool,
}

/// How results of tests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// JUnit's XML, for CI servers
    Junit,
    /// A table, for spreadsheets
    Csv,
}

/// Parses a part of several: `2/8`.
fn shard(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "not a part such as 2/8".to_owned();
    let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
    let (part, parts): (usize, usize) = (part.parse().map_err(|_| wrong())?, parts.parse().map_err(|_| wrong())?);
    if (1..=parts).contains(&part) { Ok((part, parts)) } else { Err(wrong()) }
}

/// Parses how many programs to run at once.
fn at_once(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| (1..=1000).contains(count)).ok_or_else(|| "not a number from 1 to 1000".to_owned())
}

/// Compare a machine with single-step test vectors
///
/// Each file holds a JSON array of tests. A test gives the state before one instruction and what
/// must be so after it:
///
///   {"name": "dec a", "initial": {"pc": 16, "a": 3, "ram": [[16, 129]]},
///    "final": {"pc": 17, "a": 2}}
///
/// Registers and views go by name, memories by name as [address, value] pairs. Registers that
/// `initial` does not list have their reset value, cells that it does not list are 0. Registers
/// that `final` does not list are not compared; cells that it does not list must hold what they
/// held before.
///
/// Optional: "in" and "out" (console input given and output expected, arrays of bytes), "status"
/// ("running", "halted" or "fault"), "cycles" (a number, or an array of which the length counts;
/// compared if the machine defines cycles), and the name of a bus with all that goes over it, in
/// order: [address, value, "r"] is read, [address, value, "w"] written.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  lathe verify -m quad8 tests/*.json
  lathe verify -m mine.isa vectors.json --ignore ime --ignore ie
  lathe verify -m quad8 vectors.json --format json
  lathe verify -m quad8 vectors.json --engine fast

The first failures are shown field by field. The last line reads `N passed, M failed`.
Exit code 0 if all passed, 1 if any failed or a file is not as described above."
)]
pub(crate) struct Verify {
    /// Files of vectors; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) machine: MachineArgument,

    /// Ignore a name that the machine does not have; a name it has is set but not compared. May be
    /// given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) ignore: Vec<String>,

    /// The engine to use; what passes on one must pass on all. The jit compiles each instruction
    /// separately here, before it is first executed
    #[arg(long, value_name = "ENGINE", default_value = "interp")]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Serve an editor: definitions, and assembly for any machine
///
/// Speaks the Language Server Protocol on standard input and output. Editors start it by themselves; see
/// docs/editors.md for their settings.
#[derive(Debug, Args)]
pub(crate) struct Lsp {}

/// Write the datasheet of a machine
///
/// One HTML file that needs nothing else, made from the definition: registers, memory, devices, the opcode
/// map, every instruction with its bits, meaning, flags and cycles, and examples that were executed. It
/// prints on A4 and Letter.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe doc -m quad8 -o quad8.html         The page
  lathe doc -m quad8 -o sheets             Into a folder: page, Markdown, reference card, JSON
  lathe doc -m quad8 -o quad8.md           Markdown, by the name of the file
  lathe doc -m quad8 --card -o card.svg    One page to look things up; also card.html, to be printed
  lathe doc -m quad8 --json                The machine as data; docs/model.schema.json describes it")]
pub(crate) struct Doc {
    #[command(flatten)]
    pub(crate) machine: MachineArgument,

    /// The file to write, in the format that its name says (.html, .md, .svg, .json), or a folder for all
    /// of them [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,

    /// A reference card of one page instead: HTML, or SVG
    #[arg(long)]
    pub(crate) card: bool,

    /// JSON instead, for other tools
    #[arg(long, conflicts_with = "card")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

impl Doc {
    /// Returns the format of the answer.
    pub(crate) fn answer(&self) -> Format {
        if self.json { Format::Json } else { self.format.format }
    }
}

/// Write a machine for another tool
///
/// For those who already work with another tool: the instruction set in its language. What the tool cannot
/// express is reported. Image formats of other tools are made by `lathe asm --to`, and a model as JSON by
/// `lathe doc --json`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe export customasm -m quad8 -o quad8.asm    Rules for customasm; a program includes them
  lathe export ghidra -m quad8 -o quad8           A processor module for Ghidra, in a folder")]
pub(crate) struct Export {
    /// The tool
    pub(crate) tool: ExportTool,

    #[command(flatten)]
    pub(crate) machine: MachineArgument,

    /// The file to write, or the folder where there are several [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// A tool that machines can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTool {
    /// The assembler customasm: `#ruledef`, `#subruledef` and `#bankdef`
    Customasm,
    /// Ghidra: a processor module with the instruction set in SLEIGH
    Ghidra,
}

/// Start a definition from what was written for another tool
///
/// Rules become rows with their syntax, bits and fields. What instructions do is not in them: each meaning is
/// `fault "TODO"` until you write it. What cannot be carried over is reported with its position.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe import customasm rules.asm -o mine.isa    A definition from the rules in a file")]
pub(crate) struct Import {
    /// The tool
    pub(crate) tool: ImportTool,

    /// The file to read
    pub(crate) file: String,

    /// The definition to write, a new file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// A tool whose files can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportTool {
    /// The assembler customasm: `#ruledef`, `#subruledef` and `#bankdef`
    Customasm,
}

/// How a core is made.
#[derive(Debug, Args)]
pub(crate) struct StyleArgument {
    /// How the core is made
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = Style::Quick)]
    pub(crate) style: Style,
}

/// What a core is good at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// Registers are flip-flops, and an instruction reaches all of them at once
    Quick,
    /// Registers that operands name are in block RAM, accessed one at a time
    Small,
}

/// Write the hardware of a machine: a core in Verilog
///
/// The core is plain Verilog-2005 that Icarus, Verilator and Yosys read. Names are those of the definition, and
/// each instruction has its row above it. With the core come a test bench that prints the program's console, and
/// block RAM, a serial port and a top module for a board. docs/hardware.md goes from a definition to a board.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe hdl -m quad8 -o hardware               The core, with empty memories
  lathe hdl --program hello.asm -o hardware    With a program in its memories
  lathe hdl -m rv32i --style small -o small    With its registers in block RAM

Then, to run it in a simulator:
  cd hardware && iverilog -g2005 -o bench *.v && vvp -n bench")]
pub(crate) struct Hdl {
    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// The folder to write to; created if missing
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: String,

    /// The initial content of the memories: a program in assembly, or an image
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<String>,

    #[command(flatten)]
    pub(crate) style: StyleArgument,

    /// Limit the board's memories to this many address bits, for a chip with little block RAM
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=24))]
    pub(crate) block_ram: Option<u32>,

    /// Measure it: LUTs, flip-flops, block RAM and megahertz on an iCE40, and clock cycles per instruction of the
    /// program. Needs `apt install yosys nextpnr-ice40 iverilog`
    #[arg(long)]
    pub(crate) report: bool,

    /// The most instructions of the program that `--report` simulates
    #[arg(long, value_name = "N", default_value_t = 20_000, requires = "report", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) assembly: AssemblyArguments,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Prove things about a machine, for every state at once
///
/// Without other options: that the core of `lathe hdl` does what the definition says. From any state, with any memory,
/// each instruction must end with exactly the registers, cells and bytes for devices that its row means. With
/// `--equal`: that two definitions describe one machine. With `--keeps`: that no instruction changes a register. A
/// false claim is shown with a state in which it fails.
///
/// Needs the solver z3, and Yosys for a core: `apt install z3 yosys`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe prove -m quad8                            The core of `lathe hdl`, instruction by instruction
  lathe prove -m quad8 --only push                Some of them
  lathe prove -m quad8 --core mine.v --waves bad  A core changed by hand; what is wrong with it as waveforms
  lathe prove --equal mine.isa yours.isa          Two definitions of one machine
  lathe prove -m quad8 --keeps page --but page    Nothing changes the register page but the instruction page")]
pub(crate) struct Prove {
    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// Prove that these two definitions, files or machines that ship, describe one machine
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["machine", "keeps"])]
    pub(crate) equal: Vec<String>,

    /// Prove that no instruction changes this register; may be given several times
    #[arg(long, value_name = "REGISTER")]
    pub(crate) keeps: Vec<String>,

    /// An instruction that may change it, by its mnemonic; may be given several times
    #[arg(long, value_name = "MNEMONIC", requires = "keeps")]
    pub(crate) but: Vec<String>,

    /// Only instructions with this mnemonic, or another entry of the table, such as '(reset)'; may be given several
    /// times
    #[arg(long, value_name = "MNEMONIC", conflicts_with = "equal")]
    pub(crate) only: Vec<String>,

    /// A core written or changed by hand, with the same ports, instead of the one of `lathe hdl`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["equal", "keeps"])]
    pub(crate) core: Option<String>,

    #[command(flatten)]
    pub(crate) style: StyleArgument,

    /// Read the core in one piece, not slice by slice; slow for a large one
    #[arg(long, conflicts_with_all = ["equal", "keeps"])]
    pub(crate) whole: bool,

    /// Write a waveform (.vcd) to this folder for each false claim about a core
    #[arg(long, value_name = "DIR", conflicts_with_all = ["equal", "keeps"])]
    pub(crate) waves: Option<String>,

    /// How many solvers run at once [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// How many seconds a solver may take for one claim
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Format definitions and programs: put them into columns
///
/// Tables and declarations of a definition are aligned. In assembly, labels, mnemonics, operands and
/// comments go to the columns that most lines of the file have already. Only blanks and empty lines
/// change, never what a file means.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe fmt mine.isa hello.asm         Format files in place
  lathe fmt --check *.isa *.asm        Name the files that are not formatted; exit code 1 if any
  lathe fmt --diff mine.isa            Show what would change
  lathe fmt - < mine.isa               From standard input to standard output")]
pub(crate) struct Fmt {
    /// The files; - for standard input, which is formatted to standard output
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// Change nothing; name the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,

    /// Change nothing; show what would change
    #[arg(long)]
    pub(crate) diff: bool,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Measure how fast the engines are
///
/// Runs the benchmark programs of a machine on every engine, on an interpreter written by hand and,
/// where gcc is installed, on a static translation to C compiled with gcc -O3. All take turns in
/// every round, and what they leave behind is compared first. The table shows how many times as fast
/// as the hand-written interpreter each of them is: in its best round, and in the median of all.
/// Compiling is part of the time of an engine that compiles.
///
/// The translation does not detect changed code, and stops at the first backward jump after the last
/// step rather than exactly; the engines do both.
///
/// With --real the programs are like those that people write: an interpreter, a compressor, sorting and
/// hashing, a machine of many states, a test suite for the processor, a search, text. They run for 1, 10
/// and 100 million instructions, because short runs show what compiling costs. `auto`, the engine that
/// runs programs by default, compiles on another thread and has a column of its own.
///
/// Programs of your own are measured on the engines, relative to the reference interpreter. Their
/// console has nothing to read.
#[cfg(feature = "bench")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lathe bench                              The benchmark programs of all machines
  lathe bench -m hex8                      Those of one machine
  lathe bench -m hex8 --rounds 9           More rounds
  lathe bench -m mine.isa program.asm      A program of your own
  lathe bench --real                       Programs as people write them, at three lengths
  lathe bench --real -m sm83 --steps 5_000_000
  lathe bench -m hex8 --format json        For scripts

Exit code 0 when it is done, whatever the figures are; 1 if two engines do not do the same.")]
pub(crate) struct Bench {
    /// Programs of your own, as `lathe run` takes them [default: the benchmark programs]
    #[arg(value_name = "PROGRAM")]
    pub(crate) programs: Vec<String>,

    #[command(flatten)]
    pub(crate) machine: OptionalMachine,

    /// How many rounds
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,

    /// Measure programs as people write them instead of loops
    #[arg(long, conflicts_with_all = ["programs", "goals"])]
    pub(crate) real: bool,

    /// Also show whether the project's own goals are met, for its maintainers
    #[arg(long)]
    pub(crate) goals: bool,

    /// Instructions of a run; the reference interpreter does a twentieth of them [default:
    /// 200_000_000; with --real 1, 10 and 100 million, one after the other]
    #[arg(long, value_name = "N", value_parser = steps)]
    pub(crate) steps: Option<u64>,

    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

/// Which machine, for commands that work on something else.
#[derive(Debug, Args)]
pub(crate) struct MachineArgument {
    /// The machine: one that comes with Lathe, or a definition of your own
    #[arg(short, long, value_name = "NAME|FILE.isa")]
    pub(crate) machine: String,
}

/// How a source is assembled, for commands that take one.
#[derive(Debug, Default, Args)]
pub(crate) struct AssemblyArguments {
    /// Define a constant for the source; without a value it is 1. May be given more than once
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,

    /// The folder in which included files must lie [default: that of the source]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<String>,
}

/// Which machine, for commands whose input may say it.
#[derive(Debug, Args)]
pub(crate) struct OptionalMachine {
    /// The machine: one that comes with Lathe, or a definition of your own [default: what the
    /// program says]
    #[arg(short, long, value_name = "NAME|FILE.isa")]
    pub(crate) machine: Option<String>,
}

/// For whom the answer is.
#[derive(Debug, Args)]
pub(crate) struct FormatArgument {
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The fastest available for the machine
    Auto,
    /// The reference interpreter: the simplest, against which the others are tested
    Interp,
    /// The fast interpreter
    Fast,
    /// The fast interpreter, with compiled code for hot parts
    Jit,
}

impl From<Engine> for EngineKind {
    fn from(engine: Engine) -> EngineKind {
        match engine {
            Engine::Auto => EngineKind::Auto,
            Engine::Interp => EngineKind::Interpreter,
            Engine::Fast => EngineKind::Fast,
            Engine::Jit => EngineKind::Jit,
        }
    }
}

/// For whom an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Parses two addresses: `0x8000..0xFFFF`.
fn range(text: &str) -> Result<(u64, u64), String> {
    let ends = text.split_once("..").ok_or("not a range such as 0x8000..0xFFFF")?;
    let (first, last) = (number(ends.0)?, number(ends.1)?);
    if first <= last { Ok((first, last)) } else { Err("the lower address comes first".to_owned()) }
}

/// Parses a number as people write it: `1000`, `1_000`, `0x3E8`, `0b101`, `0o17`.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let bases = [("0x", 16), ("0b", 2), ("0o", 8)];
    let based = bases.iter().find_map(|(mark, base)| Some((text.strip_prefix(mark)?, *base)));
    let (digits, base) = based.unwrap_or((&text, 10));
    // The standard library accepts a sign, even after `0x`.
    let parsed = u64::from_str_radix(digits, base).ok().filter(|_| !digits.starts_with('+'));
    parsed.ok_or_else(|| "not a number such as 1000, 1_000 or 0x3E8".to_owned())
}

/// Parses a number of bytes, optionally in units of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find_map(|(unit, bits)| Some((text.strip_suffix(*unit)?, *bits)));
    let (digits, bits) = unit.unwrap_or((text, 0));
    let bytes = number(digits).ok().and_then(|number| number.checked_mul(1 << bits));
    bytes.ok_or_else(|| "not a size such as 4096, 512K, 64M or 2G".to_owned())
}

/// Parses a number that is not 0.
#[cfg(feature = "bench")]
fn steps(text: &str) -> Result<u64, String> {
    number(text).and_then(|steps| if steps == 0 { Err("at least one step".to_owned()) } else { Ok(steps) })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_description_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(number("1_000"), Ok(1000));
        assert_eq!(number("0x3E8"), Ok(1000));
        assert_eq!(number("0XfF"), Ok(255));
        assert_eq!((number("0b101"), number("0o17")), (Ok(5), Ok(15)));
        for wrong in ["-1", "+1", "0x+1", "0b2", "", "_"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert!(number("0x").is_err());
        assert_eq!((size("4096"), size("512K"), size("2G")), (Ok(4096), Ok(512 << 10), Ok(2 << 30)));
        for wrong in ["", "K", "1T", "1 M", "-1M", "99999999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(number("99999999999999999999").is_err());
    }
}
