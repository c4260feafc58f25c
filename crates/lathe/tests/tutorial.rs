//! `docs/tutorial.md`, typed in from top to bottom: its files are written, its commands run
//! with the real binary, and what they print must be what the page shows.
//!
//! The mark of a block says what it is:
//!
//! - `file=NAME` is the whole content of a file; `append=NAME` is appended to it.
//! - `change=NAME`: each line replaces the row with the same syntax column.
//! - `console`: commands after `$ `, each with what it prints, on both streams. `exit=N` is the exit code of the last;
//!   all others end with 0.
//!
//! A block without any of these is refused, so that nothing on the page goes unchecked. The guide to a board in
//! `docs/hardware.md` continues with the tutorial's final machine; its blocks are marked in the same way.
//! `LATHE_UPDATE=1` writes what the commands print into the page; read it before you keep it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lathe_tests::tools;

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md")
}

fn page() -> String {
    std::fs::read_to_string(page_path()).expect("the page is there")
}

/// A block of the page: the number of its first line, its mark, its lines.
struct Block<'p> {
    line: usize,
    mark: &'p str,
    lines: Vec<&'p str>,
}

impl<'p> Block<'p> {
    /// Returns the value of `name=value` in the mark.
    fn attribute(&self, name: &str) -> Option<&'p str> {
        self.mark.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
    }

    fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line, "\n"]).collect()
    }
}

/// Prose and blocks alternating.
enum Part<'p> {
    Prose(&'p str),
    Block(Block<'p>),
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(mark)) => open = Some(Block { line: at + 2, mark, lines: Vec::new() }),
            (None, None) => parts.push(Part::Prose(line)),
            (Some(_), Some(_)) => parts.extend(open.take().map(Part::Block)),
            (Some(block), None) => block.lines.push(line),
        }
    }
    assert!(open.is_none(), "the last block is not closed");
    parts
}

/// A folder like the reader's.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Does what a block says; returns the block as the page should have it.
    fn follow(&self, block: &Block) -> String {
        if let Some(name) = block.attribute("file") {
            self.write(name, &block.text());
        } else if let Some(name) = block.attribute("append") {
            self.write(name, &(self.read(name) + &block.text()));
        } else if let Some(name) = block.attribute("change") {
            self.change(name, block);
        } else if block.mark.split(' ').next() == Some("console") {
            return self.console(block);
        } else {
            panic!("docs/tutorial.md:{}: nothing checks a block marked `{}`", block.line, block.mark);
        }
        block.text()
    }

    fn change(&self, name: &str, block: &Block) {
        let syntax = |line: &str| line.split('|').next().unwrap_or("").trim().to_owned();
        let mut lines: Vec<String> = self.read(name).lines().map(str::to_owned).collect();
        for new in &block.lines {
            let alike: Vec<usize> = (0..lines.len()).filter(|at| syntax(&lines[*at]) == syntax(new)).collect();
            let [at] = alike[..] else { panic!("{name} has {} rows like `{new}`", alike.len()) };
            lines[at] = (*new).to_owned();
        }
        self.write(name, &(lines.join("\n") + "\n"));
    }

    fn console(&self, block: &Block) -> String {
        let commands: Vec<&str> = block.lines.iter().filter_map(|line| line.strip_prefix("$ ")).collect();
        let wanted: i32 = block.attribute("exit").map_or(0, |code| code.parse().expect("an exit code is a number"));
        let mut text = String::new();
        for (at, command) in commands.iter().enumerate() {
            let (printed, code) = self.run(command);
            let wanted = if at + 1 == commands.len() { wanted } else { 0 };
            assert_eq!(code, wanted, "docs/tutorial.md:{}: exit code of `{command}`:\n{printed}", block.line);
            assert!(printed.is_empty() || printed.ends_with('\n'), "`{command}` leaves a line open: {printed:?}");
            text.extend(["$ ", command, "\n", &printed]);
        }
        text
    }

    /// Runs `lathe …`, `echo TEXT | lathe …` or `cat FILE`.
    fn run(&self, command: &str) -> (String, i32) {
        let (input, command) = match command.strip_prefix("echo ").and_then(|rest| rest.split_once(" | ")) {
            Some((text, command)) => (format!("{text}\n"), command),
            None => (String::new(), command),
        };
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["cat", name] => (self.read(name), 0),
            ["lathe", arguments @ ..] => self.lathe(arguments, &input),
            _ => panic!("the test cannot run `{command}`"),
        }
    }

    /// Runs Lathe with both streams in one pipe, so that they come in the order in which a terminal shows them.
    fn lathe(&self, arguments: &[&str], input: &str) -> (String, i32) {
        let (mut reader, writer) = std::io::pipe().expect("there are pipes");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::piped());
        command.stdout(writer.try_clone().expect("a pipe has several ends")).stderr(writer);
        for name in ["CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("NO_COLOR", "1");
        let mut child = command.spawn().expect("the binary is there");
        // The command keeps its ends of the pipe open; without this, the read would never end.
        drop(command);
        // A program that ends before it has read everything closes the pipe, as it may.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
        let mut printed = String::new();
        reader.read_to_string(&mut printed).expect("it prints text");
        let code = child.wait().expect("it ends").code().expect("it ends by itself");
        (printed, code)
    }
}

#[test]
fn every_step_comes_out_as_the_page_shows() {
    let page = page();
    let desk = Desk { folder: tempfile::tempdir().expect("there is room for a folder") };
    let (mut real, mut problems, mut commands) = (String::new(), Vec::new(), 0);
    for part in parts(&page) {
        match part {
            Part::Prose(line) => real.extend([line, "\n"]),
            Part::Block(block) => {
                let text = desk.follow(&block);
                commands += block.lines.iter().filter(|line| line.starts_with("$ ")).count();
                if text != block.text() {
                    problems.push(format!(
                        "docs/tutorial.md:{}:\n--- page\n{}--- real\n{text}",
                        block.line,
                        block.text()
                    ));
                }
                real.extend(["```", block.mark, "\n", &text, "```\n"]);
            }
        }
    }
    if std::env::var_os("LATHE_UPDATE").is_some() {
        std::fs::write(page_path(), real).expect("the page can be written");
        return;
    }
    assert!(problems.is_empty(), "{}\nLATHE_UPDATE=1 writes what is real into the page", problems.join("\n"));
    assert!(commands >= 20, "{commands} commands: the page has lost some");
    println!("{commands} commands");
}

/// The way from the tutorial's machine to a board, as far as possible without one. Commands are typed into a shell in
/// order; the text below a command is what it prints.
#[test]
fn the_guide_to_a_board_works_as_typed() {
    const TOOLS: [&str; 6] = ["iverilog", "vvp", "verilator", "yosys", "nextpnr-ice40", "icepack"];
    if TOOLS.iter().any(|tool| tools::find("the guide to a board", tool).is_none()) {
        return;
    }
    let desk = Desk { folder: tempfile::tempdir().expect("there is room for a folder") };
    for part in parts(&page()) {
        if let Part::Block(block) = part
            && ["file", "append", "change"].iter().any(|word| block.attribute(word) == Some("pebble.isa"))
        {
            desk.follow(&block);
        }
    }
    let guide = std::fs::read_to_string(page_path().with_file_name("hardware.md")).expect("the page is there");
    let (mut folder, mut count) = (desk.path("."), 0);
    for part in parts(&guide) {
        let Part::Block(block) = part else { continue };
        if block.attribute("file").is_some() {
            desk.follow(&block);
        } else if block.mark == "console guide" {
            count += desk.type_in(&block, &mut folder);
        }
    }
    assert!(count >= 8, "{count} commands: the page has lost some");
}

impl Desk {
    /// Types the commands of a block into a shell; returns how many there were. Commands that need a board are skipped.
    fn type_in(&self, block: &Block, folder: &mut PathBuf) -> usize {
        let binary = Path::new(env!("CARGO_BIN_EXE_lathe")).parent().expect("it is in a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(binary).chain(std::env::split_paths(&path))).expect("a path");
        let mut count = 0;
        let mut lines = block.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let command = line.strip_prefix("$ ").expect("what is printed stands below its command");
            let mut shown = String::new();
            while let Some(printed) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.extend([*printed, "\n"]);
            }
            if let Some(name) = command.strip_prefix("cd ") {
                folder.push(name);
                continue;
            }
            if command.starts_with("iceprog ") {
                continue;
            }
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(&*folder).env("PATH", &path).env("NO_COLOR", "1");
            let output = shell.output().expect("there is a shell");
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "docs/hardware.md:{}: `{command}`: {complaint}", block.line);
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(shown.is_empty() || *printed == shown, "docs/hardware.md:{}: `{command}`: {printed}", block.line);
            count += 1;
        }
        count
    }
}

/// Links to other pages lead to existing files and headings.
#[test]
fn links_lead_somewhere() {
    let page = page();
    let anchor = |heading: &str| heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    for link in page.split("](").skip(1).filter_map(|part| part.split(')').next()) {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        let other = std::fs::read_to_string(page_path().with_file_name(file));
        let other = other.unwrap_or_else(|error| panic!("{link}: {error}"));
        let mut headings = other.lines().filter(|line| line.starts_with('#'));
        assert!(place.is_empty() || headings.any(|line| anchor(line) == place), "no heading for {link}");
    }
}
