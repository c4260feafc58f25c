//! `lathe hdl`.

use crate::Bench;

#[test]
fn a_folder_gets_the_core_and_what_is_around_it() {
    let bench = Bench::new();
    let answer = bench.run(&["hdl", "-m", "quad8", "-o", "hardware"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
    let core = bench.read_text("hardware/quad8.v");
    assert!(core.contains("module quad8 (") && core.contains("// sub D, S       | 0001 DDSS | D = D - S"), "{core}");
    for name in ["bench.v", "bench.cpp", "ram.hex", "board/top.v", "board/ram_0.hex", "board/icebreaker.pcf"] {
        assert!(!bench.read_text(&format!("hardware/{name}")).is_empty(), "{name}");
    }
}

#[test]
fn a_program_is_in_the_memories() {
    let bench = Bench::with("hi.asm", ".machine quad8\n.org 0x10\n inc b\n halt\n");
    let answer = bench.run(&["hdl", "--program", "hi.asm", "-o", "hardware", "--format", "json"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    assert_eq!(answer.json()["module"], "quad8");
    assert!(bench.read_text("hardware/ram.hex").ends_with("@10\n84\n01\n"), "{}", bench.read_text("hardware/ram.hex"));
}

#[test]
fn what_cannot_be_hardware_is_said_before_anything_is_written() {
    let definition = "machine odd \"Stores, then faults\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a : u8\n\
        instructions {\n  bad | 0x01 | ram[a] = 1; if a == 0 { fault \"zero\", 0 }\n}\n";
    let bench = Bench::with("odd.isa", definition);
    bench
        .run(&["hdl", "-m", "odd.isa", "-o", "hardware"])
        .complains(1, &["odd.isa, line 6", "a store to ram", "fault"]);
    assert!(!bench.path().join("hardware").exists());
}

#[test]
fn there_is_no_hardware_for_addresses_of_more_than_32_bits() {
    let definition = |bits: u32| {
        format!(
            "machine far \"Far\"\nmemory ram : u{bits} -> u8\npc pc : u{bits} in ram\ninstructions {{\n  stop | 0x00 | halt\n}}\n"
        )
    };
    let bench = Bench::with("far.isa", definition(33)).file("near.isa", definition(32));
    for command in [&["hdl", "-m", "far.isa", "-o", "hardware"][..], &["prove", "-m", "far.isa"]] {
        bench
            .run(command)
            .complains(1, &["far.isa, line 2", "no hardware for addresses of 33 bits", "of 32 bits or fewer"]);
    }
    assert!(!bench.path().join("hardware").exists());
    assert_eq!(bench.run(&["hdl", "-m", "near.isa", "-o", "hardware"]).code, 0);
}

/// A report takes minutes and runs one tool after another: all missing ones are named before it begins.
#[test]
fn a_report_names_the_tools_that_are_missing_before_anything_is_written() {
    let bench = Bench::with("hi.asm", ".machine quad8\n halt\n");
    std::fs::create_dir(bench.path().join("tools")).unwrap();
    let yosys = format!("tools/yosys{}", std::env::consts::EXE_SUFFIX);
    let bench = bench.file(&yosys, "");
    let cases: [(&[&str], &str, &[&str]); 3] = [
        (
            &["-m", "quad8"],
            ".",
            &["`yosys` and `nextpnr-ice40` are not installed", "`apt install yosys nextpnr-ice40`"],
        ),
        (&["-m", "quad8"], "tools", &["`nextpnr-ice40` is not installed", "`apt install nextpnr-ice40`"]),
        (
            &["--program", "hi.asm"],
            "tools",
            &["`nextpnr-ice40`, `iverilog` and `vvp` are not installed", "`apt install nextpnr-ice40 iverilog`"],
        ),
    ];
    for (what, path, expected) in cases {
        let arguments = [&["hdl", "-o", "hardware", "--report"], what].concat();
        let output = bench.command(&arguments).env("PATH", bench.path().join(path)).output().expect("it runs");
        crate::answer(output).complains(1, expected);
        assert!(!bench.path().join("hardware").exists());
    }
}

#[test]
fn wrong_usage_is_told() {
    let bench = Bench::with("ram.hex", "0 1 2\n");
    bench.run(&["hdl", "-o", "hardware"]).complains(2, &["which machine?", "-m"]);
    bench.run(&["hdl", "-m", "none", "-o", "hardware"]).complains(2, &["none"]);
    bench.run(&["hdl", "-m", "quad8", "--program", "ram.hex", "-o", "."]).complains(2, &["ram.hex", "overwritten"]);
}
