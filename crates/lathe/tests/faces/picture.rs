//! The picture of the debugger's screen in `docs/debugging.md`: what a real terminal shows, with its colours.
//!
//! `cargo xtask picture`, or this test with `LATHE_UPDATE=1`, regenerates it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::binary;
use super::terminal::{PATIENCE, Terminal};

const SIZE: (&str, &str) = ("100", "28");
const CHARACTER: f64 = 7.8;
const LINE: usize = 17;
const MARGIN: usize = 14;
const INK: &str = "#d0d7de";
const PAPER: &str = "#1b1f24";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// How a character looks.
#[derive(Clone, Debug, Default, PartialEq)]
struct Look {
    ink: Option<String>,
    paper: Option<String>,
    bold: bool,
}

impl Look {
    /// Applies an escape sequence that selects a look, such as `1;38;5;31`.
    fn select(&mut self, sequence: &str) {
        let mut numbers = sequence.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Look::default(),
                1 => self.bold = true,
                38 => self.ink = colour(&mut numbers),
                39 => self.ink = None,
                48 => self.paper = colour(&mut numbers),
                49 => self.paper = None,
                other => panic!("the screen has a look that the picture does not know: {other} in {sequence}"),
            }
        }
    }
}

/// Returns one of the 256 colours that are the same everywhere.
fn colour(numbers: &mut impl Iterator<Item = u8>) -> Option<String> {
    let (kind, number) = (numbers.next()?, numbers.next()?);
    assert!(kind == 5 && number >= 16, "the colour {kind};{number} depends on the terminal");
    let part = |step: u8| [0, 95, 135, 175, 215, 255][usize::from((number - 16) / step % 6)];
    let grey = |number: u8| 8 + 10 * (number - 232);
    let [red, green, blue] = if number < 232 { [36, 6, 1].map(part) } else { [grey(number); 3] };
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

/// Splits a line into pieces of one look: the column, the text and its look. The look continues on the next line.
fn pieces(line: &str, look: &mut Look) -> Vec<(usize, String, Look)> {
    let mut pieces: Vec<(usize, String, Look)> = Vec::new();
    let mut column = 0;
    for (at, part) in line.split("\x1b[").enumerate() {
        let text = match part.split_once('m').filter(|_| at > 0) {
            Some((sequence, text)) => {
                look.select(sequence);
                text
            }
            None => part,
        };
        if !text.is_empty() {
            pieces.push((column, text.to_owned(), look.clone()));
            column += text.chars().count();
        }
    }
    pieces
}

/// Returns where a column begins.
fn across(column: usize) -> f64 {
    MARGIN as f64 + column as f64 * CHARACTER
}

/// Splits a text where it has two or more blanks, and returns where the parts begin: a browser would collapse the
/// blanks.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut parts: Vec<(usize, String)> = Vec::new();
    for (at, character) in text.chars().enumerate().filter(|(_, character)| *character != ' ') {
        match parts.last_mut() {
            Some((start, part)) if at - *start - part.chars().count() < 2 => {
                if at - *start > part.chars().count() {
                    part.push(' ');
                }
                part.push(character);
            }
            _ => parts.push((at, character.to_string())),
        }
    }
    parts
}

fn svg(screen: &str) -> String {
    let (columns, rows): (usize, usize) = (SIZE.0.parse().unwrap(), SIZE.1.parse().unwrap());
    let (width, height) = ((columns as f64 * CHARACTER) as usize + 2 * MARGIN, rows * LINE + 2 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"The debugger's screen\">\n\
         <!-- Made by `cargo xtask picture` from the real program. -->\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\" fill=\"{INK}\">\n"
    );
    let mut look = Look::default();
    for (row, line) in screen.lines().enumerate() {
        for (column, piece, look) in pieces(line, &mut look) {
            let y = MARGIN + row * LINE;
            if let Some(paper) = &look.paper {
                let (x, wide) = (across(column), piece.chars().count() as f64 * CHARACTER);
                let rectangle =
                    format!("x=\"{x:.1}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{LINE}\" fill=\"{paper}\"");
                let _ = writeln!(text, "<rect {rectangle}/>");
            }
            let ink = look.ink.as_ref().map(|ink| format!(" fill=\"{ink}\"")).unwrap_or_default();
            let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
            for (offset, words) in words(&piece) {
                let (x, y, wide) = (across(column + offset), y + 13, words.chars().count() as f64 * CHARACTER);
                let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let _ =
                    writeln!(text, "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{wide:.1}\"{ink}{bold}>{words}</text>");
            }
        }
    }
    text + "</g>\n</svg>\n"
}

/// Returns the program whose bug the guide finds.
fn program() -> String {
    let guide = std::fs::read_to_string(docs().join("debugging.md")).expect("there is a guide");
    let (_, rest) = guide.split_once("```asm largest.asm\n").expect("it has a program");
    rest.split("```").next().expect("there is always a first part").to_owned()
}

#[test]
fn the_guide_shows_the_screen_as_it_is() {
    let Some(tmux) = lathe_tests::tools::find("the_guide_shows_the_screen_as_it_is", "tmux") else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("largest.asm"), program()).expect("it can be written");
    let command = format!("{} debug largest.asm --engine fast", binary().display());
    let terminal = Terminal::start(tmux, folder.path(), &command, SIZE);
    terminal.shows("step 0 of 0");
    for (line, shows) in [
        ("run", "step 123 of 123"),
        ("who printed", "step 121 of 123"),
        ("who wrote r1", "step 75 of 123"),
        ("break note", "1: break at"),
        ("who wrote ram[values + 5]", "step 68 of 123"),
    ] {
        terminal.keys(&[line, "Enter"]);
        terminal.shows(shows);
    }
    let path = docs().join("debugger.svg");
    let made = || svg(&terminal.tmux(&["capture-pane", "-p", "-e"]));
    if std::env::var_os("LATHE_UPDATE").is_some() {
        // Once two pictures are equal, everything has been drawn.
        let mut picture = made();
        while picture != made() {
            picture = made();
        }
        return std::fs::write(path, picture).expect("the picture can be written");
    }
    let kept = std::fs::read_to_string(path).expect("there is a picture");
    let start = Instant::now();
    while kept != made() {
        let screen = terminal.screen();
        assert!(
            start.elapsed() < PATIENCE,
            "docs/debugger.svg is out of date, make it with `cargo xtask picture`:\n{screen}"
        );
        std::thread::yield_now();
    }
}
