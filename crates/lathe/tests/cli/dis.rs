//! `lathe dis`.

use std::path::Path;

use crate::Bench;

/// quad8: `inc a; out a; halt`, and two unreached bytes.
const SMALL: [u8; 5] = [0x80, 0x82, 0x01, 0x80, 0x41];

fn small() -> Bench {
    Bench::with("small.bin", SMALL)
}

#[test]
fn code_is_followed_and_the_rest_is_data() {
    let bench = small();
    let text = bench.run(&["dis", "small.bin", "-m", "quad8"]).succeeds();
    assert!(text.starts_with(".machine quad8\n"), "{text}");
    assert!(text.contains("    inc a ") && text.contains("    halt ") && text.contains(".byte 0x80, 0x41"), "{text}");
    let text = bench.run(&["dis", "small.bin", "-m", "quad8", "--linear"]).succeeds();
    assert_eq!(text.matches("    inc a ").count(), 2, "{text}");
    let text = bench.run(&["dis", "small.bin", "-m", "quad8", "--entry", "3"]).succeeds();
    assert_eq!(text.matches("    inc a ").count(), 1, "{text}");
    assert!(text.contains(".byte 0x80, 0x82, 0x01") && text.contains(".entry"), "{text}");
    bench.run(&["dis", "small.bin", "-m", "quad8", "--entry", "0x10000"]).complains(2, &["0x10000", "`ram`", "0xFFFF"]);
}

#[test]
fn names_from_a_file() {
    let bench = small()
        .file("good.sym", "; mine\nbegin = 0x0000\n\n there=3 # five\nminus = -0x1\nbegin2 = 0\n")
        .file("bad.sym", "one = 1\ntwo is 2\n")
        .file("worse.sym", "one = many\n")
        .file("bad.json", "{\"symbols\": 3}\n");
    let with = |file: &str| bench.run(&["dis", "small.bin", "-m", "quad8", "--symbols", file]);
    let text = with("good.sym").succeeds();
    assert!(text.contains("begin:") && text.contains("there:") && !text.contains("minus"), "{text}");
    with("bad.sym").complains(1, &["bad.sym, line 2", "`two is 2` is not a symbol", "`main = 0x100`"]);
    with("worse.sym").complains(1, &["worse.sym, line 1", "not a symbol"]);
    with("bad.json").complains(1, &["bad.json, line 1", "symbols-json"]);
    with("god.sym").complains(1, &["did you mean `good.sym`?"]);
}

/// Both symbol files that `asm` writes can be read; the JSON distinguishes memories.
#[test]
fn names_that_asm_has_written() {
    let source = ".machine stack8b\nMINUS = -1\nstart: psh start\n htl\n.section data\n .byte 6\nhere: .byte 7\n";
    let bench = Bench::with("two.asm", source);
    bench.run(&["asm", "two.asm", "-f", "bin,symbols,symbols-json,image"]).complains(0, &["wrote two-prog.bin"]);
    for symbols in ["two.sym", "two.sym.json"] {
        let text = bench.run(&["dis", "two-prog.bin", "-m", "stack8b", "--symbols", symbols]).succeeds();
        assert!(text.contains("start:"), "{text}");
        // Only the JSON says that `here` is an address in another memory.
        assert_eq!(text.contains("here:"), symbols == "two.sym", "{text}");
    }
    let text = bench.run(&["dis", "two.lathe"]).succeeds();
    assert!(text.contains("start:") && text.contains("here:"), "{text}");
    // A name that the user gives takes precedence over the image's.
    let bench = bench.file("own.sym", "mine = 0\n");
    let text = bench.run(&["dis", "two.lathe", "--symbols", "own.sym"]).succeeds();
    assert!(text.contains("mine:") && !text.contains("start:"), "{text}");
}

#[test]
fn into_a_file_but_not_over_what_is_read() {
    let bench = small().file("a.sym", "x = 0\n");
    assert_eq!(bench.run(&["dis", "small.bin", "-m", "quad8", "-o", "again.asm"]).succeeds(), "");
    bench.run(&["asm", "again.asm"]).writes(&["again.bin"]);
    assert_eq!(bench.read("again.bin"), SMALL);
    let shown = bench.run(&["dis", "small.bin", "-m", "quad8", "-o", "-"]).succeeds();
    assert_eq!(shown, bench.read_text("again.asm"));
    for (arguments, name) in
        [(&["-o", "small.bin"][..], "small.bin"), (&["--symbols", "a.sym", "-o", "./a.sym"], "a.sym")]
    {
        let answer = bench.run(&[&["dis", "small.bin", "-m", "quad8"], arguments].concat());
        answer.complains(2, &[name, "is an input"]);
    }
    assert_eq!((bench.read("small.bin"), bench.read_text("a.sym")), (SMALL.to_vec(), "x = 0\n".to_owned()));
    bench.run(&["dis", "small.bin", "-m", "quad8", "-o", "none/x.asm"]).complains(1, &["no folder none"]);
}

#[test]
fn images_that_are_none() {
    let bench =
        small().file("empty.bin", []).file("large.bin", vec![0; 65_537]).file("a.asm", ".machine quad8\n halt\n");
    assert_eq!(bench.run(&["dis", "empty.bin", "-m", "quad8"]).succeeds(), ".machine quad8\n");
    bench.run(&["dis", "large.bin", "-m", "quad8"]).complains(1, &["large.bin", "65537 bytes", "room for 65536"]);
    bench.run(&["dis", "small.bin"]).complains(2, &["which machine small.bin is for"]);
    bench.run(&["dis", "small.bin", "-m", "quad8", "--from", "listing"]).complains(1, &["cannot be read", "bin, hex"]);
    bench.run(&["dis", "small.bin", "-m", "quad8", "--from", "hxe"]).complains(2, &["did you mean `hex`?"]);
    bench.run(&["dis", "small.bin", "-m", "quad8", "--from", "hex"]).complains(1, &["small.bin, line 1"]);
    // A source is assembled first.
    assert!(bench.run(&["dis", "a.asm"]).succeeds().contains("    halt "));
}

/// What `asm` makes of a program comes back from `dis`, byte by byte, for one program of each machine, through files as
/// a user would do it.
#[test]
fn every_machine_there_and_back() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    for (machine, program) in
        [("quad8", "primes"), ("duo16", "sort"), ("stack8a", "sort"), ("stack8b", "primes"), ("hex8", "hanoi")]
    {
        let folder = machines.join(machine).join("programs");
        let source = folder.join(format!("{program}.asm"));
        let source = source.to_str().unwrap();
        let bench = Bench::new();
        bench.run(&["asm", source, "-f", "bin,image,hex", "-o", "one.bin"]).complains(0, &["wrote one.lathe"]);
        let images = bench.names().into_iter().filter(|name| name.starts_with("one"));
        let code_first = |name: &String| !name.contains("-data");
        for image in images.filter(code_first).collect::<Vec<_>>() {
            for method in [&["--linear"][..], &[]] {
                bench.run(&[&["dis", &image, "-m", machine, "-o", "two.asm"], method].concat()).succeeds();
                let format = image.rsplit('.').next().unwrap();
                let format = if format == "lathe" { "bin" } else { format };
                bench.run(&["asm", "two.asm", "-f", format, "-o", &format!("two.{format}")]).complains(0, &["wrote"]);
                for name in bench.names().iter().filter(|name| name.starts_with("two") && name.ends_with(format)) {
                    let original = name.replace("two", "one");
                    let original = if bench.names().contains(&original) { original } else { image.clone() };
                    assert!(bench.read(name) == bench.read(&original), "{machine}: {image} {method:?}, {name}");
                    std::fs::remove_file(bench.path().join(name)).unwrap();
                }
            }
        }
    }
}
