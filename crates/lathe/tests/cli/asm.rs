//! `lathe asm`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::{Answer, Bench};

/// quad8: six cells, a label, a gap and a constant.
const SMALL: &str = "\
.machine quad8
SIZE = 3
start:  inc a
        out a
        halt
.org 8
        .byte SIZE, 0x41
.export start
";
const SMALL_BYTES: [u8; 10] = [0x80, 0x82, 0x01, 0, 0, 0, 0, 0, 3, 0x41];

fn small() -> Bench {
    Bench::with("small.asm", SMALL)
}

/// stack8b: cells in both memories.
const TWO: &str = ".machine stack8b\n htl\n.section data\n .byte 7, 8\n";

/// Cells of twelve bits, so two bytes each in an image.
pub(crate) const WIDE: &str = r#"machine wide "Twelve bits"
memory code : u4 -> u12 big
pc pc : u4 in code
register a : u12
field N : u8
instructions {
  halt   | 0000 0000 0000 | halt
  load N | 0001 NNNNNNNN  | a = zext(N)
}
"#;

/// Returns what a run prints on standard output.
fn shown(bench: &Bench, arguments: &[&str]) -> String {
    bench.run(arguments).succeeds()
}

// ---------------------------------------------------------------------------------------
// Formats and names
// ---------------------------------------------------------------------------------------

#[test]
fn a_binary_beside_the_source_unless_something_else_is_asked_for() {
    let bench = small();
    bench.run(&["asm", "small.asm"]).writes(&["small.bin"]);
    assert_eq!(bench.read("small.bin"), SMALL_BYTES);
    assert_eq!(bench.names(), ["small.asm", "small.bin"]);
}

/// Every format has its own extension, so all can be written at once.
#[test]
fn every_format_at_once() {
    let bench = small();
    let all = "bin,hex,srec,hexdump,readmemh,readmemb,logisim,logisim2,mif,coe,c,rust,vhdl,csv,listing,symbols,\
               symbols-json,vice,json,image";
    let extensions = [
        ("bin", ""),
        ("hex", ":0300000080820"),
        ("srec", "S0"),
        ("dump", "0000: 80 82 01 --"),
        ("mem", "80"),
        ("memb", "10000000"),
        ("logisim", "v3.0 hex words addressed"),
        ("logisim2", "v2.0 raw"),
        ("mif", "DEPTH"),
        ("coe", "memory_initialization_radix"),
        ("h", "program["),
        ("rs", "[u8; 10]"),
        ("vhd", "package"),
        ("csv", "address"),
        ("lst", "start:  inc a"),
        ("sym", "SIZE = 0x3\nstart = 0x0000\n"),
        ("sym.json", "\"machine\": \"quad8\""),
        ("lbl", "al C:0000 .start"),
        ("json", "quad8"),
        ("lathe", "\"lathe-image\""),
    ];
    let names: Vec<String> = extensions.iter().map(|(extension, _)| format!("small.{extension}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bench.run(&["asm", "small.asm", "-f", all]).writes(&names);
    for (name, (_, words)) in names.iter().zip(extensions).skip(1) {
        assert!(bench.read_text(name).contains(words), "{name} has no `{words}`:\n{}", bench.read_text(name));
    }
    assert_eq!(bench.names().len(), 1 + names.len());
}

#[test]
fn a_format_by_the_name_of_the_file_or_by_its_own() {
    let bench = small();
    bench.run(&["asm", "small.asm", "-o", "rom.HEX"]).writes(&["rom.HEX"]);
    assert!(bench.read_text("rom.HEX").starts_with(':'));
    bench.run(&["asm", "small.asm", "-o", "out", "-f", "SREC"]).writes(&["out"]);
    assert!(bench.read_text("out").starts_with("S0"));
    bench.run(&["asm", "small.asm", "-o", "plain"]).writes(&["plain"]);
    assert_eq!(bench.read("plain"), SMALL_BYTES);
}

#[test]
fn several_formats_share_the_name_that_was_given() {
    let bench = small();
    bench
        .run(&["asm", "small.asm", "-f", "bin, hex", "-f", "vice", "-o", "rom.bin"])
        .writes(&["rom.bin", "rom.hex", "rom.lbl"]);
    // An unknown extension stays part of the name.
    bench.run(&["asm", "small.asm", "-f", "bin,hex", "-o", "board.v2"]).writes(&["board.v2.bin", "board.v2.hex"]);
}

#[test]
fn formats_that_do_not_exist_or_meet_in_one_file() {
    let bench = small();
    bench.run(&["asm", "small.asm", "-f", "sres"]).complains(2, &["no format `sres`", "did you mean `srec`?"]);
    bench.run(&["asm", "small.asm", "-f", "bin,"]).complains(2, &["no format ``", "choose among bin, hex"]);
    bench.run(&["asm", "small.asm", "-f", "bin,bin"]).complains(2, &["both be small.bin", "`-o`"]);
    assert_eq!(bench.names(), ["small.asm"]);
}

#[test]
fn standard_output() {
    let bench = small();
    assert!(shown(&bench, &["asm", "small.asm", "-f", "hexdump", "-o", "-"]).starts_with("0000: 80 82 01"));
    let both = shown(&bench, &["asm", "small.asm", "-f", "symbols,readmemh", "-o", "-"]);
    assert!(both.starts_with("SIZE = 0x3\n") && both.contains("80"), "{both}");
    let output = bench.command(&["asm", "small.asm", "-o", "-"]).output().unwrap();
    assert_eq!(output.stdout, SMALL_BYTES);
    assert_eq!(bench.names(), ["small.asm"]);
    // Two raw images in one stream would be indistinguishable.
    let bench = bench.file("two.asm", TWO);
    bench.run(&["asm", "two.asm", "-o", "-"]).complains(2, &["2 files", "standard output", "`--memory`"]);
    bench.run(&["asm", "small.asm", "-f", "bin,hex", "-o", "-"]).complains(2, &["run together"]);
}

#[test]
fn a_source_from_standard_input() {
    let bench = Bench::with("lib.asm", " halt\n");
    let source = b" inc a\n .include \"lib.asm\"\n";
    let text = bench.run_with_input(&["asm", "-", "-m", "quad8", "-f", "readmemh"], source).succeeds();
    assert_eq!(text, "80\n01\n");
    bench.run_with_input(&["asm", "-", "-m", "quad8", "-o", "x.bin"], source).writes(&["x.bin"]);
    assert_eq!(bench.read("x.bin"), [0x80, 0x01]);
    bench.run_with_input(&["asm", "-"], b".machine quad8\n hlat\n").complains(1, &["standard input:2:2", "`halt`"]);
    bench.run(&["asm", "-", "-m", "-"]).complains(2, &["both"]);
    bench.run(&["asm", "-", "-m", "quad8", "--watch"]).complains(2, &["cannot be watched"]);
}

#[test]
fn a_reader_that_goes_away_has_had_enough() {
    let bench = Bench::with("long.asm", ".machine duo16\n .fill 60000, 7\n");
    for command in
        [&["asm", "long.asm", "-f", "csv", "-o", "-"][..], &["dis", "long.asm"], &["dis", "long.asm", "-o", "-"]]
    {
        let mut child = bench.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    }
}

// ---------------------------------------------------------------------------------------
// What is assembled
// ---------------------------------------------------------------------------------------

#[test]
fn constants_from_the_command_line() {
    let source = ".machine quad8\n.if defined(DEBUG)\n .byte DEBUG\n.endif\n .byte lo(SIZE), hi(SIZE)\n";
    let bench = Bench::with("d.asm", source);
    let bytes = |given: &[&str]| {
        bench.run(&[&["asm", "d.asm"], given].concat()).writes(&["d.bin"]);
        bench.read("d.bin")
    };
    assert_eq!(bytes(&["-D", "SIZE=0x1_02"]), [2, 1]);
    assert_eq!(bytes(&["-DSIZE=0b11", "--define", "DEBUG"]), [1, 3, 0]);
    assert_eq!(bytes(&["-D", "SIZE=-2", "-D", "DEBUG=0o17"]), [15, 0xFE, 0xFF]);
    bench.run(&["asm", "d.asm"]).complains(1, &["A201", "`SIZE`"]);
}

#[test]
fn constants_that_are_none() {
    let bench = small();
    for wrong in ["1x=3", "a b", "", "=1", "a.b=2", "x-y", "é"] {
        bench.run(&["asm", "small.asm", "-D", wrong]).complains(2, &["is not a name", "-D SIZE=0x100"]);
    }
    bench.run(&["asm", "small.asm", "-D", "N=many"]).complains(2, &["`many`", "not a number"]);
    bench.run(&["asm", "small.asm", "-D", "N="]).complains(2, &["-D N=`", "not a number"]);
    bench.run(&["asm", "small.asm", "-D", "N", "-D", "N=2"]).complains(2, &["`-D N` is given twice"]);
    bench.run(&["asm", "small.asm", "-D", "Page=1"]).complains(2, &["name of the machine quad8", "`Page_`"]);
    bench.run(&["asm", "small.asm", "-D", "start=1"]).complains(1, &["A202", "small.asm:3:1", "`start`"]);
    assert_eq!(bench.names(), ["small.asm"]);
}

#[test]
fn overlaps_are_refused_unless_allowed() {
    let bench = Bench::with("o.asm", ".machine quad8\n .byte 1, 2\n.org 1\n .byte 3\n");
    bench.run(&["asm", "o.asm"]).complains(1, &["error[A501]", "o.asm:4", "cannot be assembled: 1 error"]);
    assert_eq!(bench.names(), ["o.asm"]);
    bench.run(&["asm", "o.asm", "--allow-overlap"]).writes(&["o.bin"]);
    assert_eq!(bench.read("o.bin"), [1, 3]);
}

#[test]
fn files_of_the_project_and_no_others() {
    let bench = Bench::new();
    let folder = |name: &str| std::fs::create_dir(bench.path().join(name)).unwrap();
    folder("project");
    folder("project/sub");
    let bench = bench
        .file("secret.inc", " .byte 0x99\n")
        .file("project/main.asm", ".machine quad8\n .include \"sub/one.inc\"\n .incbin \"sub/data.bin\"\n")
        .file("project/sub/one.inc", " inc a\n .include \"two.inc\"\n .include \"../three.inc\"\n")
        .file("project/sub/two.inc", " inc b\n")
        .file("project/three.inc", " inc c\n")
        .file("project/sub/data.bin", [0xFE, 0xFF])
        .file("project/out.asm", ".machine quad8\n .include \"../secret.inc\"\n")
        .file("project/link.asm", ".machine quad8\n .include \"link.inc\"\n .incbin \"link.inc\"\n")
        .file("project/lost.asm", ".machine quad8\n .include \"lots.inc\"\n .include \"sub\"\n");
    bench.run(&["asm", "project/main.asm"]).writes(&["project/main.bin"]);
    let made = bench.read("project/main.bin");
    assert_eq!(made[made.len() - 2..], [0xFE, 0xFF]);
    assert_eq!(made.len(), 5);
    let refused = ["error[A405]", "outside the project's folder project", "--root"];
    bench.run(&["asm", "project/out.asm"]).complains(1, &refused);
    bench.run(&["asm", "project/lost.asm"]).complains(1, &["no such file", "it is a directory", "2 errors"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.inc", bench.path().join("project/link.inc")).unwrap();
        bench.run(&["asm", "project/link.asm"]).complains(1, &[&refused[..], &["2 errors"]].concat());
        bench.run(&["asm", "project/link.asm", "--root", "."]).writes(&["project/link.bin"]);
    }
    bench.run(&["asm", "project/out.asm", "--root", "."]).writes(&["project/out.bin"]);
    assert_eq!(bench.read("project/out.bin"), [0x99]);
    // A root that does not contain the source's folder allows no includes.
    bench.run(&["asm", "project/main.asm", "--root", "project/sub", "-o", "x"]).complains(1, &["three.inc"]);
    bench.run(&["asm", "project/main.asm", "--root", "none"]).complains(1, &["folder none", "no such", "--root"]);
    bench.run(&["asm", "project/main.asm", "--root", "secret.inc"]).complains(1, &["folder secret.inc", "--root"]);
    let text = bench
        .run_with_input(&["asm", "-", "-m", "quad8", "--root", "project", "-f", "csv"], b" .include \"three.inc\"\n");
    assert!(text.succeeds().contains("0,136,0x88\n"));
}

#[test]
fn diagnostics_have_their_place_cause_and_next_step() {
    let bench = Bench::with("e.asm", ".machine quad8\n hlat\n jmp nowhere\nlonely: halt\n");
    let answer = bench.run(&["asm", "e.asm", "-f", "bin,listing"]);
    assert_eq!(answer.out, "");
    answer.complains(1, &["error[A301]", "e.asm:2:2", "`halt`", "e.asm:3", "e.asm cannot be assembled: 2 errors"]);
    assert_eq!(bench.names(), ["e.asm"]);
    let bench = bench.file("w.asm", ".machine quad8\n inc a\nlonely: halt\n");
    let answer = bench.run(&["asm", "w.asm"]);
    assert!(answer.err.contains("warning[W701]") && answer.err.ends_with("wrote w.bin\n"), "{}", answer.err);
    assert_eq!(answer.code, 0);
}

// ---------------------------------------------------------------------------------------
// Machines
// ---------------------------------------------------------------------------------------

#[test]
fn a_definition_beside_the_source_is_found() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("sub")).unwrap();
    let bench = bench
        .file("sub/mine.isa", crate::check::COUNTER.replace("machine counter", "machine mine"))
        .file("sub/prog.asm", "/* Mine. */\n.machine mine\n inc\n halt\n")
        .file("sub/bom.asm", "\u{FEFF}.MACHINE \"mine\" // yes\n inc\n");
    bench.run(&["asm", "sub/prog.asm", "-f", "bin,image"]).writes(&["sub/prog.bin", "sub/prog.lathe"]);
    assert_eq!(bench.read("sub/prog.bin"), [1, 0]);
    bench.run(&["asm", "sub/bom.asm"]).writes(&["sub/bom.bin"]);
    // The image names its machine, and finds the definition beside itself.
    assert!(bench.run(&["run", "sub/prog.lathe"]).succeeds().contains("a 0x01"));
    assert!(bench.run(&["run", "sub/prog.asm"]).succeeds().contains("a 0x01"));
    assert!(bench.run(&["dis", "sub/prog.lathe"]).succeeds().starts_with(".machine mine\n"));
}

#[test]
fn machines_that_are_not_found() {
    let bench = Bench::with("a.asm", " inc a\n")
        .file("b.asm", ".machine quda8\n")
        .file("file.asm", ".machine quad8.isa\n")
        .file("c.asm", ".machine something\n")
        .file("d.asm", ".machine ../d\n")
        .file("broken.isa", "machine broken \"Nothing in it\"\n")
        .file("e.asm", ".machine broken\n");
    bench.run(&["asm", "a.asm"]).complains(2, &["which machine a.asm is for", "-m NAME", ".machine NAME"]);
    bench.run(&["asm", "a.asm", "-m", "quda8"]).complains(2, &["did you mean `quad8`?"]);
    bench.run(&["asm", "b.asm"]).complains(1, &["b.asm is for a machine `quda8`", "did you mean `quad8`?"]);
    bench.run(&["asm", "file.asm"]).complains(1, &["a machine `quad8.isa`", "did you mean `quad8`?"]);
    bench.run(&["asm", "c.asm"]).complains(1, &["`something`", "something.isa beside"]);
    bench.run(&["asm", "d.asm"]).complains(1, &["`..", "does not exist"]);
    bench.run(&["asm", "e.asm"]).complains(1, &["broken.isa:1:1", "broken.isa cannot be used"]);
    bench.run(&["asm", "b.asm", "-m", "hex8"]).complains(1, &["A404", "`quda8`", "`hex8`"]);
    assert_eq!(bench.names().len(), 7);
}

#[test]
fn wide_cells() {
    let bench = Bench::with("wide.isa", WIDE).file("w.asm", ".machine wide\n load 0x42\n halt\n .byte 0xABC\n");
    bench.run(&["asm", "w.asm", "-f", "bin,readmemh,hex"]).writes(&["w.bin", "w.mem", "w.hex"]);
    assert_eq!(bench.read("w.bin"), [0x01, 0x42, 0x00, 0x00, 0x0A, 0xBC]);
    assert!(bench.read_text("w.hex").starts_with(":06000000014200000ABC"), "{}", bench.read_text("w.hex"));
    bench.run(&["asm", "w.asm", "--lane", "8"]).writes(&["w-bit0.bin", "w-bit8.bin"]);
    assert_eq!((bench.read("w-bit0.bin"), bench.read("w-bit8.bin")), (vec![0x42, 0, 0xBC], vec![1, 0, 0xA]));
    bench.run(&["asm", "w.asm", "--lane", "13"]).complains(2, &["13 bits", "`code`", "1 to 12"]);
    bench.run(&["asm", "w.asm", "--fill", "0x1000"]).complains(1, &["0x1000", "0xfff"]);
}

// ---------------------------------------------------------------------------------------
// Parts of an image
// ---------------------------------------------------------------------------------------

#[test]
fn memories_apart() {
    let bench = Bench::with("two.asm", TWO);
    bench.run(&["asm", "two.asm", "-f", "bin,image"]).writes(&["two-prog.bin", "two-data.bin", "two.lathe"]);
    assert_eq!((bench.read("two-prog.bin"), bench.read("two-data.bin")), (vec![2], vec![7, 8]));
    bench.run(&["asm", "two.asm", "--memory", "data", "-o", "d.bin"]).writes(&["d.bin"]);
    assert_eq!(bench.read("d.bin"), [7, 8]);
    bench.run(&["asm", "two.asm", "--memory", "rom"]).complains(2, &["no memory `rom`", "prog, data"]);
}

#[test]
fn fill_size_and_range() {
    let bench = small();
    let bytes = |options: &[&str]| {
        bench.run(&[&["asm", "small.asm", "-o", "x.bin"], options].concat()).writes(&["x.bin"]);
        bench.read("x.bin")
    };
    assert_eq!(bytes(&["--fill", "0xFF"]), [0x80, 0x82, 0x01, 255, 255, 255, 255, 255, 3, 0x41]);
    assert_eq!(bytes(&["--size", "12", "--fill", "9"])[7..], [9, 3, 0x41, 9, 9]);
    assert_eq!(bytes(&["--range", "1..2"]), [0x82, 0x01]);
    assert_eq!(bytes(&["--range", "8..0xFFFF", "--size", "3"]), [3, 0x41, 0]);
    std::fs::remove_file(bench.path().join("x.bin")).unwrap();
    let fails = |code, options: &[&str], words: &[&str]| {
        bench.run(&[&["asm", "small.asm", "-f", "listing,bin"], options].concat()).complains(code, words);
        assert_eq!(bench.names(), ["small.asm"], "nothing is written, not even what would have gone well");
    };
    fails(1, &["--size", "9"], &["small.bin", "needs 10 cells", "larger size"]);
    fails(1, &["--size", "0xFFFF_FFFF_FFFF_FFFF"], &["limit", "smaller size"]);
    fails(1, &["--range", "0..0x10000"], &["`ram`", "0xffff"]);
    fails(2, &["--range", "5..3"], &["lower address comes first"]);
    fails(2, &["--range", "5"], &["0x8000..0xFFFF"]);
    fails(2, &["--range", "0..0x1_0000_0000_0000_0000"], &["not a number"]);
    fails(1, &["--fill", "256"], &["0x100", "0xff"]);
    fails(2, &["--fill", "-1"], &["-1"]);
}

#[test]
fn chips_that_take_turns() {
    let bench = small();
    bench.run(&["asm", "small.asm", "-f", "bin,symbols", "--interleave", "2"]).writes(&[
        "small-0.bin",
        "small-1.bin",
        "small.sym",
    ]);
    assert_eq!(bench.read("small-0.bin"), [0x80, 1, 0, 0, 3]);
    assert_eq!(bench.read("small-1.bin"), [0x82, 0, 0, 0, 0x41]);
    for (option, number) in [("--interleave", "0"), ("--interleave", "257"), ("--lane", "0"), ("--lane", "65")] {
        bench.run(&["asm", "small.asm", option, number]).complains(2, &[option, number, "1..="]);
    }
    bench.run(&["asm", "small.asm", "--lane", "4", "--interleave", "2"]).writes(&[
        "small-0-bit0.bin",
        "small-0-bit4.bin",
        "small-1-bit0.bin",
        "small-1-bit4.bin",
    ]);
    assert_eq!(bench.read("small-0-bit4.bin"), [8, 0, 0, 0, 0]);
}

#[test]
fn the_name_of_an_array() {
    let bench = small();
    let text = |options: &[&str]| shown(&bench, &[&["asm", "small.asm", "-o", "-"], options].concat());
    assert!(text(&["-f", "c"]).contains("program["));
    assert!(text(&["-f", "c", "--name", "boot"]).contains("boot["));
    assert!(text(&["-f", "rust", "--name", "boot"]).contains("BOOT: [u8; 10]"));
    bench.run(&["asm", "small.asm", "-f", "c", "--name", "1 x"]).complains(1, &["small.h", "`1 x`"]);
    assert_eq!(bench.names(), ["small.asm"]);
}

// ---------------------------------------------------------------------------------------
// Wrong input
// ---------------------------------------------------------------------------------------

#[test]
fn sources_that_are_none() {
    let bench = small().file("garbage.asm", [0x80, 0xFF, 0x00, 0x0A]).file("empty.asm", "");
    std::fs::create_dir(bench.path().join("folder.asm")).unwrap();
    bench.run(&["asm", "smal.asm"]).complains(1, &["smal.asm cannot be read", "did you mean `small.asm`?"]);
    bench.run(&["asm", "other/x.asm"]).complains(1, &["no such file", "check the name"]);
    bench.run(&["asm", "small.asm/x.asm"]).complains(1, &["not a directory"]);
    bench.run(&["asm", "folder.asm"]).complains(1, &["it is a directory", "a file in it"]);
    for command in ["asm", "run", "dis"] {
        bench.run(&[command, "garbage.asm", "-m", "quad8"]).complains(1, &["garbage.asm", "line 1", "UTF-8"]);
    }
    bench.run(&["asm", "empty.asm"]).complains(2, &["which machine"]);
    assert_eq!(bench.names().len(), 4);
    bench.run(&["asm", "empty.asm", "-m", "quad8"]).writes(&["empty.bin"]);
    assert!(bench.read("empty.bin").is_empty());
}

#[test]
fn outputs_that_cannot_be() {
    let bench = small();
    std::fs::create_dir(bench.path().join("folder")).unwrap();
    let untouched = || {
        assert_eq!(bench.read_text("small.asm"), SMALL);
        assert_eq!(bench.names(), ["folder", "small.asm"]);
        assert_eq!(std::fs::read_dir(bench.path().join("folder")).unwrap().count(), 0);
    };
    bench.run(&["asm", "small.asm", "-o", "none/x.bin"]).complains(1, &["none/x.bin", "no folder none", "make the"]);
    bench.run(&["asm", "small.asm", "-o", "folder"]).complains(2, &["folder is a directory", "folder/program.bin"]);
    bench.run(&["asm", "small.asm", "-o", "folder", "-f", "bin,hex"]).complains(2, &["is a directory"]);
    for spelling in ["small.asm", "./small.asm", "folder/../small.asm"] {
        let over = format!("{spelling} is an input");
        bench.run(&["asm", "small.asm", "-o", spelling]).complains(2, &[&over, "another name"]);
    }
    untouched();
    // If one of several files cannot be written, none is.
    std::fs::create_dir(bench.path().join("x.hex")).unwrap();
    let answer = bench.run(&["asm", "small.asm", "-f", "bin,hex,listing", "-o", "x.bin"]);
    answer.complains(1, &["x.hex cannot be written: it is a directory", "another name"]);
    std::fs::remove_dir(bench.path().join("x.hex")).unwrap();
    untouched();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("small.asm", bench.path().join("alias")).unwrap();
        bench.run(&["asm", "small.asm", "-o", "alias"]).complains(2, &["alias is an input"]);
        assert_eq!(bench.read_text("small.asm"), SMALL);
    }
}

/// Neither included files nor the definition is overwritten.
#[test]
fn all_that_is_read_is_spared() {
    let bench = Bench::with("wide.isa", WIDE)
        .file("main.asm", ".machine wide\n .include \"lib.inc\"\n .incbin \"main.bin\"\n")
        .file("lib.inc", " halt\n")
        .file("main.bin", [1]);
    let before: Vec<Vec<u8>> = bench.names().iter().map(|name| bench.read(name)).collect();
    for name in ["wide.isa", "lib.inc", "main.bin"] {
        bench.run(&["asm", "main.asm", "-o", name]).complains(2, &["is an input"]);
    }
    bench.run(&["asm", "main.asm"]).complains(2, &["main.bin is an input"]);
    assert_eq!(bench.names().iter().map(|name| bench.read(name)).collect::<Vec<_>>(), before);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let bench = small();
    let folder = bench.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Some users may write everywhere; then there is nothing to test.
    if std::fs::write(folder.join("try"), "").is_err() {
        bench.run(&["asm", "small.asm", "-f", "bin,hex", "-o", "folder/x.bin"]).complains(1, &["permission is denied"]);
        assert_eq!(bench.names(), ["folder", "small.asm"]);
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let odd = std::ffi::OsStr::from_bytes(b"f\xFFo");
    let folder = bench.path().join(odd);
    // Not every file system accepts such a name.
    if std::fs::create_dir(&folder).is_err() {
        return;
    }
    std::fs::write(folder.join("main.asm"), ".machine quad8\n .include \"lib.inc\"\n").unwrap();
    std::fs::write(folder.join("lib.inc"), " halt\n").unwrap();
    // Inside such a folder everything works; only the name itself cannot be given.
    let output = bench.command(&["asm", "main.asm"]).current_dir(&folder).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "wrote main.bin\n");
    let output = bench.command(&["asm"]).arg(folder.join("main.asm")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("UTF-8"));
}

/// A hundred mistakes in a large source take no longer than the source alone.
#[test]
fn a_large_source_full_of_mistakes() {
    let bench =
        Bench::with("large.asm", "  garbage ][ here \"\n".repeat(500_000)).file("line.asm", "a".repeat(3_000_000));
    bench.run(&["asm", "large.asm", "-m", "duo16"]).complains(1, &["large.asm:1:", "more not shown"]);
    let answer = bench.run(&["asm", "line.asm", "-m", "duo16"]);
    assert!(answer.err.len() < 10_000, "{} bytes", answer.err.len());
    answer.complains(1, &["A301", "line.asm:1:1"]);
}

// ---------------------------------------------------------------------------------------
// Watching
// ---------------------------------------------------------------------------------------

/// How long to wait for something that should happen at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is killed at the end of the test, and its standard error.
struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn new(bench: &Bench, arguments: &[&str]) -> Watcher {
        let mut child = bench.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let stream = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || stream.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Watcher { child, lines }
    }

    /// Returns all lines until it waits for a change.
    fn round(&self) -> String {
        let end = Instant::now() + PATIENCE;
        let mut said = String::new();
        loop {
            let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|_| panic!("it never waited; it said:\n{said}"));
            said += &format!("{line}\n");
            if line.starts_with("watching ") {
                return said;
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every change of length is seen, however coarse the file system's clock is.
#[test]
fn watching_sees_every_file_come_change_and_go() {
    let bench = Bench::new();
    let write = |name: &str, text: &str| std::fs::write(bench.path().join(name), text).unwrap();
    let watcher = Watcher::new(&bench, &["asm", "main.asm", "--watch"]);
    let said = watcher.round();
    assert!(said.contains("no such file") && said.ends_with("watching 1 file\n"), "{said}");
    write("main.asm", ".machine mine\n .include \"lib.inc\"\n .incbin \"data.bin\"\n");
    assert!(watcher.round().contains("mine.isa beside"));
    write("mine.isa", &crate::check::COUNTER.replace("machine counter", "machine mine"));
    let said = watcher.round();
    assert!(said.contains("2 errors") && said.ends_with("watching 4 files\n"), "{said}");
    write("lib.inc", " inc\n");
    assert!(watcher.round().contains("1 error\n"));
    write("data.bin", "!");
    assert_eq!(watcher.round(), "wrote main.bin\nwatching 4 files\n");
    assert_eq!(bench.read("main.bin"), [1, b'!']);
    write("data.bin", "!!");
    assert!(watcher.round().starts_with("wrote"));
    assert_eq!(bench.read("main.bin"), [1, b'!', b'!']);
    write("lib.inc", " inc\n inc\n");
    assert!(watcher.round().starts_with("wrote"));
    assert_eq!(bench.read("main.bin"), [1, 1, b'!', b'!']);
    std::fs::remove_file(bench.path().join("lib.inc")).unwrap();
    assert!(watcher.round().contains("error[A405]"));
    assert_eq!(bench.read("main.bin"), [1, 1, b'!', b'!'], "what was good stays");
}

#[test]
fn wrong_usage_is_not_watched() {
    let bench = small();
    let usage = |arguments: &[&str]| -> Answer { bench.run(&[&["asm", "small.asm", "--watch"], arguments].concat()) };
    usage(&["-f", "sres"]).complains(2, &["did you mean"]);
    usage(&["-D", "1"]).complains(2, &["not a name"]);
    usage(&["-m", "-"]).complains(2, &["cannot be watched"]);
}
