//! Other tools on the cores of `lathe hdl`: Verilator as a linter, Yosys as a synthesiser, Icarus as a simulator of the
//! text, of the gates that Yosys makes from it, and of the whole board with its serial port.
//!
//! Synthesis takes long, so a plain run does it for two machines; `LATHE_COSIM` (`cargo xtask cosim`) does it for the
//! five small ones.

use std::path::{Path, PathBuf};

use lathe_asm::{Options, assemble};
use lathe_base::files::MemoryFiles;
use lathe_base::{Source, Width};
use lathe_hdl::{Form, Program};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_isa::operators::BinaryOperator;
use lathe_tests::cosim::{tool, write};
use lathe_tests::tools;

fn machine(name: &str) -> (Isa, &'static str) {
    let machine = lathe_machines::find(name).expect("the machine ships");
    (lathe_isa::load(machine.definition).isa.expect("its definition is right"), machine.definition)
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("hardware_tools").join(name)
}

/// Returns a short program for a small machine, and its output. stack8a cannot print, so it halts.
fn sample(name: &str) -> (&'static str, &'static str) {
    match name {
        "quad8" => (" li a, 72\n out a\n li a, 105\n out a\n halt\n", "Hi"),
        "duo16" => (" ldi r1l, 72\n store r0, 0xFFE0, r1l\n ldi r1l, 105\n store r0, 0xFFE0, r1l\n halt\n", "Hi"),
        "stack8a" => (" psh 5\n psh 6\n add\n htl\n", ""),
        "stack8b" => (" psh 72\n out 0\n psh 105\n out 0\n htl\n", "Hi"),
        _ => (" loadimm r1, 72\n output r1\n loadimm r1, 105\n output r1\nend: jmp end\n", "Hi"),
    }
}

/// Writes the hardware of a machine that ships, with a program in its memories.
fn with_program(name: &str, folder: &Path, text: &str) {
    let (isa, definition) = machine(name);
    with_program_of(&isa, definition, folder, text);
}

fn with_program_of(isa: &Isa, definition: &str, folder: &Path, text: &str) {
    let name = &isa.name;
    let result = assemble(isa, &MemoryFiles::default(), Source::new("sample.asm", text), &Options::default());
    let found: Vec<String> = result.diagnostics.into_sorted().into_iter().map(|found| found.message).collect();
    let image = result.image.unwrap_or_else(|| panic!("{name}: {found:?}"));
    let cells = |id: MemoryId| {
        let segments = image.segments.iter().filter(|segment| segment.memory == id);
        segments.flat_map(|segment| (segment.start..).zip(segment.cells.iter().copied())).collect()
    };
    let cells = (0..isa.memories.len() as u32).map(MemoryId).map(cells).collect();
    let registers = image.at_reset(isa).map(|reset| reset.registers).unwrap_or_default();
    let program = Program { cells, entry: image.entry, registers, board_bits: None };
    write(isa, definition, &program, folder).expect("it can be written");
}

/// Machines that cannot become hardware, and the reason given.
const REFUSED: [(&str, &str); 1] = [("gameboy", "code that is fetched through a map")];

/// Every machine that ships becomes hardware, or is refused with a reason.
#[test]
fn every_machine_becomes_hardware_or_is_refused() {
    for machine in lathe_machines::every() {
        let isa =
            lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right");
        let found = lathe_hdl::generate(&isa, &[], &Program::default());
        let reason = REFUSED.iter().find(|(name, _)| *name == machine.name).map(|(_, reason)| *reason);
        match (found, reason) {
            (Ok(_), None) => {}
            (Err(found), Some(reason)) => assert!(found.to_string().contains(reason), "{}: {found}", machine.name),
            (Ok(_), Some(_)) => panic!("{} is refused no more", machine.name),
            (Err(found), None) => panic!("{}: {found}", machine.name),
        }
    }
}

/// Verilator reports nothing, neither about the core nor about the board.
#[test]
fn verilator_reads_every_core_without_a_warning() {
    let Some(verilator) = tools::find("Verilator's warnings", "verilator") else { return };
    let is_refused = |name: &str| REFUSED.iter().any(|(refused, _)| *refused == name);
    for machine in lathe_machines::every().filter(|machine| !is_refused(machine.name)) {
        let folder = folder("lint").join(machine.name);
        let isa =
            lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right");
        let design = write(&isa, machine.definition, &Program::default(), &folder).expect("it can be written");
        let core = format!("{}.v", design.module);
        let lint = |files: &[&str], top: &str| {
            let arguments: Vec<&str> =
                ["--lint-only", "-Wall", "--top-module", top].iter().chain(files).copied().collect();
            tool(&verilator, &folder, &arguments).unwrap_or_else(|error| panic!("{}: {error}", machine.name));
        };
        lint(&[&core], &design.module);
        lint(&[&core, "board/top.v"], "top");
    }
}

/// A machine may use the names that a core uses, in both styles.
#[test]
fn names_of_a_core_may_be_names_of_a_machine() {
    let Some(verilator) = tools::find("names in Verilog", "verilator") else { return };
    let definition = include_str!("../machines/names8.isa");
    let isa = lathe_isa::load(definition).isa.expect("the definition is right");
    let small = lathe_hdl::Small::new(&isa).expect("it has such registers").isa;
    for (isa, style) in [(isa, "quick"), (small, "small")] {
        let folder = folder("names").join(style);
        let design = write(&isa, definition, &Program::default(), &folder).expect("it can be written");
        let core = format!("{}.v", design.module);
        let lint = |what: &str| {
            tool(&verilator, &folder, &["--lint-only", "-Wall", &core])
                .unwrap_or_else(|error| panic!("{what}: {error}"));
        };
        lint(style);
        let parts = lathe_hdl::generate_as(&isa, &[], &Program::default(), Form::Parts).expect("it can be written");
        std::fs::write(folder.join(&core), &parts.files[0].text).expect("it can be written");
        lint(&format!("{style}, in parts"));
    }
}

/// The bench prints the program's console in Icarus.
#[test]
fn icarus_prints_the_console() {
    let (Some(iverilog), Some(vvp)) = (tools::find("Icarus", "iverilog"), tools::find("Icarus", "vvp")) else { return };
    for name in ["quad8", "duo16", "stack8a", "stack8b", "hex8"] {
        let folder = folder("icarus").join(name);
        let (text, expected) = sample(name);
        with_program(name, &folder, text);
        tool(&iverilog, &folder, &["-g2005", "-o", "bench", &format!("{name}.v"), "bench.v"]).expect("Icarus takes it");
        let printed = tool(&vvp, &folder, &["-n", "bench"]).expect("it runs");
        assert!(printed.starts_with(expected) && !printed.contains("fault"), "{name}: {printed}");
    }
}

/// A register that `on reset` sets from the program.
#[test]
fn icarus_begins_as_on_reset_says() {
    let test = "registers at reset";
    let (Some(iverilog), Some(vvp)) = (tools::find(test, "iverilog"), tools::find(test, "vvp")) else { return };
    const DEFINITION: &str = "machine vectors \"Vectors\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a = 65 : u8\n\
        device console : stream\non reset { if ram[0xFF] != 0 { a = ram[0xFF] } }\n\
        instructions {\n  say  | 0x01 | console.write(a)\n  stop | 0x02 | halt\n}\n";
    let isa = lathe_isa::load(DEFINITION).isa.expect("it is right");
    for (text, expected) in [(" say\n stop\n", 'A'), (" say\n stop\n.org 0xFF\n .byte 'Z'\n", 'Z')] {
        let folder = folder("reset").join(expected.to_string());
        with_program_of(&isa, DEFINITION, &folder, text);
        tool(&iverilog, &folder, &["-g2005", "-o", "bench", "vectors.v", "bench.v"]).expect("Icarus takes it");
        let printed = tool(&vvp, &folder, &["-n", "bench"]).expect("it runs");
        assert!(printed.starts_with(expected), "{printed}");
        let board = std::fs::read_to_string(folder.join("board/top.v")).expect("there is a board");
        assert!(board.contains(&format!("= 8'h{:02X}; // a", expected as u32)), "{board}");
    }
}

/// The program's output leaves the board through its serial port, one bit after the other.
#[test]
fn the_board_sends_the_console() {
    let (Some(iverilog), Some(vvp)) = (tools::find("the board", "iverilog"), tools::find("the board", "vvp")) else {
        return;
    };
    const LISTENER: &str = "`timescale 1ns/1ns\nmodule listener;\n  reg clk = 1'b0;\n  always #1 clk = !clk;\n  wire tx;\n  wire running;\n  \
        top #(.DIVISOR(4)) board (.clk(clk), .rx(1'b1), .tx(tx), .running(running));\n  reg [7:0] byte_in;\n  integer at;\n  \
        always @(negedge tx) begin\n    #4;\n    for (at = 0; at < 8; at = at + 1) begin #8 byte_in = {tx, byte_in[7:1]}; end\n    \
        $write(\"%c\", byte_in);\n    #8;\n  end\n  initial #4000 $finish;\nendmodule\n";
    for name in ["quad8", "duo16", "stack8b", "hex8"] {
        let folder = folder("board").join(name);
        let (text, expected) = sample(name);
        with_program(name, &folder, text);
        let board = folder.join("board");
        std::fs::write(board.join("listener.v"), LISTENER).expect("it can be written");
        let core = format!("../{name}.v");
        tool(&iverilog, &board, &["-g2005", "-s", "listener", "-o", "board", &core, "top.v", "listener.v"])
            .expect("Icarus takes it");
        let printed = tool(&vvp, &board, &["-n", "board"]).expect("it runs");
        assert!(printed.contains(expected), "{name}: {printed}");
    }
}

/// Gives pairs of numbers to the division unit, one after the other, and prints its answers and how many cycles each
/// took.
const DIVIDER: &str = "module check #(parameter W = 8);
  reg clk = 1'b0;
  reg start = 1'b0;
  reg [W-1:0] x;
  reg [W-1:0] y;
  wire ready;
  wire [W-1:0] quotient;
  wire [W-1:0] remainder;
  hex8_divide #(.W(W)) unit (.clk(clk), .start(start), .x(x), .y(y), .ready(ready), .quotient(quotient), .remainder(remainder));
  integer pairs;
  integer cycles;
  initial begin
    pairs = $fopen(\"pairs\", \"r\");
    while ($fscanf(pairs, \"%h %h\", x, y) == 2) begin
      start = 1'b1;
      #1 clk = 1'b1;
      #1 clk = 1'b0;
      start = 1'b0;
      x = ~x;
      y = ~y;
      for (cycles = 0; !ready && cycles < 1000; cycles = cycles + 1) begin
        #1 clk = 1'b1;
        #1 clk = 1'b0;
      end
      $display(\"%h %h %0d\", quotient, remainder, cycles);
    end
  end
endmodule
";

/// Returns the operands: all numbers at small widths; at larger ones the ends of the range, powers of two and their
/// neighbours, and random numbers, whose seed is printed.
fn divided(bits: u32, seed: u64) -> Vec<(u64, u64)> {
    let mask = u64::MAX >> (64 - bits);
    if bits <= 8 {
        return (0..=mask).flat_map(|x| (0..=mask).map(move |y| (x, y))).collect();
    }
    let edges: Vec<u64> = (0..bits)
        .step_by(7)
        .chain([1, bits - 1])
        .flat_map(|at| [(1 << at) - 1, 1 << at, (1 << at) + 1, mask - (1 << at), !((1 << at) - 1)])
        .map(|number: u64| number & mask)
        .collect();
    let mut all: Vec<(u64, u64)> = edges.iter().flat_map(|x| edges.iter().map(move |y| (*x, *y))).collect();
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    // Numbers of all lengths.
    all.extend((0..4_000).map(|at| (random() & mask >> (at % 5 * bits / 8), random() & mask >> (at % 7 * bits / 8))));
    all
}

/// The division unit computes what the operators of definitions do. Its algorithm does not depend on its width: up to 8
/// bits all numbers are divided, at larger widths some.
#[test]
fn the_unit_divides() {
    let test = "the unit that divides";
    let (Some(iverilog), Some(vvp)) = (tools::find(test, "iverilog"), tools::find(test, "vvp")) else { return };
    let seed = std::env::var("LATHE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("the unit that divides: seed {seed}");
    let (isa, definition) = machine("hex8");
    for bits in [2, 4, 8, 16, 32, 64] {
        let folder = folder("divider").join(bits.to_string());
        write(&isa, definition, &Program::default(), &folder).expect("it can be written");
        let pairs = divided(bits, seed);
        let text: String = pairs.iter().map(|(x, y)| format!("{x:x} {y:x}\n")).collect();
        std::fs::write(folder.join("pairs"), text).expect("it can be written");
        std::fs::write(folder.join("check.v"), DIVIDER).expect("it can be written");
        let parameter = format!("-Pcheck.W={bits}");
        tool(&iverilog, &folder, &["-g2005", "-s", "check", &parameter, "-o", "check", "hex8.v", "check.v"])
            .expect("Icarus takes it");
        let said = tool(&vvp, &folder, &["-n", "check"]).expect("it runs");
        let width = Width::new(u64::from(bits)).expect("it is a width");
        assert_eq!(said.lines().count(), pairs.len());
        for ((x, y), line) in pairs.into_iter().zip(said.lines()) {
            let parts = [BinaryOperator::Divide, BinaryOperator::Remainder].map(|part| part.apply(width, x, y));
            let digits = bits.div_ceil(4) as usize;
            let expected = format!("{:0digits$x} {:0digits$x} {bits}", parts[0], parts[1]);
            assert_eq!(line, expected, "{x:#x} by {y:#x} in {bits} bits, seed {seed}");
        }
    }
}

/// The gates that Yosys makes for an iCE40 print what the text prints; nothing becomes a latch.
#[test]
fn gates_print_the_console() {
    let test = "the gates";
    let (Some(yosys), Some(iverilog), Some(vvp)) =
        (tools::find(test, "yosys"), tools::find(test, "iverilog"), tools::find(test, "vvp"))
    else {
        return;
    };
    let names: &[&str] = if std::env::var_os("LATHE_COSIM").is_some() {
        &["quad8", "stack8a", "stack8b", "hex8", "duo16"]
    } else {
        &["quad8", "stack8a"]
    };
    for name in names {
        let folder = folder("gates").join(name);
        let (text, expected) = sample(name);
        with_program(name, &folder, text);
        // Shifts become gates first, as in `lathe hdl --report`.
        let script = format!(
            "read_verilog {name}.v; proc; opt_clean; select -assert-none t:$dlatch; synth_ice40 -top {name} -run begin:coarse; techmap t:$shl t:$shr t:$sshr; synth_ice40 -top {name} -run coarse:; stat; write_verilog -noattr gates.v"
        );
        let said = tool(&yosys, &folder, &["-p", &script]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let count = |cell: &str| {
            said.lines()
                .rev()
                .find_map(|line| line.trim().strip_prefix(cell).map(str::trim).map(str::to_owned))
                .unwrap_or_default()
        };
        println!("{name}: {} LUTs", count("SB_LUT4"));
        let library =
            yosys.parent().map(|bin| bin.join("../share/yosys/ice40/cells_sim.v")).expect("it is in a folder");
        let library = library.to_string_lossy();
        tool(
            &iverilog,
            &folder,
            &["-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-o", "gates", "gates.v", "bench.v", &library],
        )
        .unwrap_or_else(|error| panic!("{name}: {error}"));
        let printed = tool(&vvp, &folder, &["-n", "gates"]).expect("it runs");
        assert!(printed.starts_with(expected) && !printed.contains("fault"), "{name}: {printed}");
    }
}
