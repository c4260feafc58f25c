//! The picture at the top of the README: a terminal that runs the real program.
//!
//! `cargo xtask picture`, or this test with `LATHE_UPDATE=1`, regenerates it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const MACHINE: &str = r#"machine tiny "A first machine"

memory ram : u8 -> u8
pc     pc  : u8 in ram
register a : u8
field N : u8
device console : stream

instructions {
  halt  | 0000 0000          | halt
  ldi N | 0001 0000 NNNNNNNN | a = N
  out   | 0010 0000          | console.write(a)
}
"#;
const PROGRAM: &str = ".machine tiny\n ldi 'H'\n out\n ldi 'i'\n out\n ldi '\\n'\n out\n halt\n";
/// What is typed.
const SESSION: [&str; 4] =
    ["cat tiny.isa", "lathe run hi.asm", "lathe asm hi.asm --to hexdump -o -", "lathe run mandelbrot.asm"];

const CHARACTER: f64 = 7.8;
const LINE: usize = 17;
const MARGIN: usize = 18;

fn picture_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/picture.svg")
}

/// Returns the lines of the session, and whether each was typed.
fn session() -> Vec<(bool, String)> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/duo16/programs/");
    for name in ["mandelbrot.asm", "lib.asm"] {
        std::fs::copy(format!("{sample}{name}"), folder.path().join(name)).expect("the sample is there");
    }
    std::fs::write(folder.path().join("tiny.isa"), MACHINE).expect("the folder can be written");
    std::fs::write(folder.path().join("hi.asm"), PROGRAM).expect("the folder can be written");
    let mut lines = Vec::new();
    for typed in SESSION {
        lines.push((true, typed.to_owned()));
        let words: Vec<&str> = typed.split(' ').collect();
        let printed = match words.as_slice() {
            ["cat", name] => std::fs::read_to_string(folder.path().join(name)).expect("it is there"),
            _ => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
                let output = command.args(&words[1..]).current_dir(folder.path()).output().expect("it runs");
                assert!(output.status.success(), "{typed}: {output:?}");
                String::from_utf8(output.stdout).expect("it prints text")
            }
        };
        lines.extend(printed.lines().map(|line| (false, line.trim_end().to_owned())));
        lines.push((false, String::new()));
    }
    lines.pop();
    lines
}

fn svg(lines: &[(bool, String)]) -> String {
    let columns = lines.iter().map(|(_, line)| line.chars().count() + 2).max().unwrap_or(0);
    let (width, height) = ((columns as f64 * CHARACTER) as usize + 2 * MARGIN, lines.len() * LINE + 2 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"A machine is defined in a few rows, and programs run on it\">\n\
         <!-- Made by `cargo xtask picture` from the real program. -->\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\" fill=\"#d0d7de\" xml:space=\"preserve\">\n"
    );
    for (at, (typed, line)) in lines.iter().enumerate().filter(|(_, (_, line))| !line.is_empty()) {
        let y = MARGIN + at * LINE + 12;
        let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let line = if *typed {
            format!("<tspan fill=\"#3fb950\">$</tspan> <tspan font-weight=\"bold\">{line}</tspan>")
        } else {
            line
        };
        let _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"{y}\">{line}</text>");
    }
    text + "</g>\n</svg>\n"
}

#[test]
fn the_picture_shows_what_the_program_does() {
    let made = svg(&session());
    if std::env::var_os("LATHE_UPDATE").is_some() {
        std::fs::write(picture_path(), made).expect("the picture can be written");
        return;
    }
    let kept = std::fs::read_to_string(picture_path()).expect("there is a picture");
    assert!(kept == made, "docs/picture.svg is out of date: `cargo xtask picture` makes it anew");
}
