//! What is known about a definition besides its model: documentation, headings, names with their places; and what is
//! left of a definition with errors.

use lathe_base::files::MemoryFiles;
use lathe_base::{FileId, Source};
use lathe_isa::{Isa, Loaded, load, load_with};

const MACHINE: &str = r#"## The machine.
machine small "Documented"
## Holds everything.
memory ram : u8 -> u8
## Where we are.
pc pc : u8 in ram
## Two registers.
register a, b : u8
## Both of them.
view ab = a ++ b
## A register operand.
field D, S : register { a, b }
field MODE : enum { slow = 1, quick = 2 }
## Talks.
device console : stream
## Adds one.
fn up(x: u8) -> u8 { x + 1 }
## Two ways.
family OP : u1 (x: u8) -> u8 {
  ## Upward.
  inc = up(x)
  dec = x - 1
}
## Arithmetic
## One operand.
instructions {
  ## Counts.
  {OP} D | 0000 00 {OP} D | D = OP(D)
  add D, S | 0001 00 D S | D = D + S

  ## Everything else
  ## that there is

  ## Stops.
  halt | 0xFF | halt
  out D | 0010 000 D | console.write(ab[7:0])
}
instructions {
  mode MODE | 0011 00 {MODE} | a = MODE == quick ? a : b
}
"#;

fn isa() -> Isa {
    let loaded = load(MACHINE);
    loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

#[test]
fn every_item_has_its_documentation_and_its_place() {
    let isa = isa();
    let texts = [
        (isa.memories[0].documentation.as_str(), isa.memories[0].span),
        (&isa.pc.documentation, isa.pc.span),
        (&isa.registers[1].documentation, isa.registers[1].span),
        (&isa.views[0].documentation, isa.views[0].span),
        (&isa.fields[1].documentation, isa.fields[1].span),
        (&isa.devices[0].documentation, isa.devices[0].span),
        (&isa.functions[0].documentation, isa.functions[0].span),
        (&isa.families[0].documentation, isa.families[0].span),
        (&isa.families[0].members[0].documentation, isa.families[0].members[0].span),
    ];
    let shown: Vec<String> = texts.iter().map(|(text, span)| format!("{} {text}", &MACHINE[span.range()])).collect();
    let expected = [
        "ram Holds everything.",
        "pc Where we are.",
        "b Two registers.",
        "ab Both of them.",
        "S A register operand.",
        "console Talks.",
        "up Adds one.",
        "OP Two ways.",
        "inc Upward.",
    ];
    assert_eq!(shown, expected);
    assert_eq!(isa.fields[2].documentation, "");
}

#[test]
fn rows_have_headings_documentation_and_members() {
    let isa = isa();
    let row = |at: usize| {
        let instruction = &isa.instructions[at];
        let heading = instruction.group.map_or("-", |at| isa.groups[at].heading.as_str());
        let members =
            instruction.chosen.iter().map(|chosen| isa.families[chosen.family].members[chosen.member].name.clone());
        let members: Vec<String> = members.collect();
        format!("{} | {} | {heading} | {}", instruction.syntax.mnemonic(), members.join(" "), instruction.documentation)
    };
    let expected = [
        "inc | inc | Arithmetic\nOne operand. | Counts.",
        "dec | dec | Arithmetic\nOne operand. | Counts.",
        "add |  | Arithmetic\nOne operand. | ",
        "halt |  | Everything else\nthat there is | Stops.",
        "out |  | Everything else\nthat there is | ",
        "mode |  | - | ",
    ];
    assert_eq!((0..6).map(row).collect::<Vec<_>>(), expected);
}

/// Returns where a name is declared and used, each as a line number and the text there.
fn places(text: &str, name: &str) -> Vec<String> {
    let names = load(text).names;
    let entry = names.get(name).unwrap_or_else(|| panic!("`{name}` is not known"));
    let line = |offset: u32| 1 + text[..offset as usize].matches('\n').count();
    let show = |span: &lathe_base::Span| format!("{}:{}", line(span.start), &text[span.range()]);
    std::iter::once(&entry.span).chain(&entry.uses).map(show).collect()
}

#[test]
fn names_know_where_they_are_declared_and_used() {
    assert_eq!(places(MACHINE, "ab"), ["10:ab", "36:ab"]);
    assert_eq!(places(MACHINE, "up"), ["17:up", "21:up"]);
    assert_eq!(places(MACHINE, "OP"), ["19:OP", "28:OP", "28:OP", "28:OP"]);
    assert_eq!(places(MACHINE, "S"), ["12:S", "29:S", "29:S", "29:S"]);
    assert_eq!(places(MACHINE, "quick"), ["13:quick", "39:quick"]);
    assert_eq!(places(MACHINE, "console"), ["15:console", "36:console"]);
    assert_eq!(places(MACHINE, "ram"), ["4:ram", "6:ram"]);
}

#[test]
fn a_place_leads_to_its_name() {
    let names = load(MACHINE).names;
    let offset = MACHINE.find("ab[7:0]").unwrap() as u32;
    assert_eq!(names.at(offset + 1).map(|(name, _)| name), Some("ab"));
    assert_eq!(names.at(offset + 2), None);
}

#[test]
fn errors_leave_everything_else() {
    let broken = MACHINE
        .replace("0001 00 D S", "0001 00 D")
        .replace("console.write(ab[7:0])", "console.write(nothing)")
        .replace("view ab = a ++ b", "view ab = a ++ nowhere");
    let loaded = load(&broken);
    assert!(loaded.isa.is_none() && loaded.diagnostics.has_errors());
    let partial = loaded.shown().expect("there is a program counter");
    let rows: Vec<_> = partial.instructions.iter().map(|one| (one.syntax.mnemonic(), one.broken)).collect();
    assert_eq!(rows, [("inc", false), ("dec", false), ("halt", false), ("out", true), ("mode", false)]);
    assert!(partial.views.is_empty() && partial.registers.len() == 2);
    assert_eq!(partial.families[0].members.len(), 2);
    assert_eq!(places(&broken, "up"), ["17:up", "21:up"]);
    let without_pc = load("machine m \"\"\nmemory ram : u8 -> u8\nregister a : u8\n");
    assert!(without_pc.shown().is_none());
    assert!(without_pc.names.get("a").is_some());
}

/// Our definitions have no findings. When a line is removed from one, the names that remain are at their places.
#[test]
fn places_of_names_hold_the_names() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
    let mut files = MemoryFiles::default();
    for entry in std::fs::read_dir(folder).expect("the machines are there") {
        let path = entry.expect("a folder").path();
        let name = format!("{}.isa", path.file_name().expect("a name").to_string_lossy());
        files.0.insert(name.clone(), std::fs::read(path.join(name)).expect("a definition"));
    }
    // Some extend others.
    let load = |name: &str, text: &str| -> Loaded { load_with(Source::new(name, text), &files) };
    for (name, bytes) in &files.0 {
        let text = String::from_utf8(bytes.clone()).expect("a text");
        let found = load(name, &text).diagnostics;
        assert!(found.is_empty(), "{name}: {found:?}");
        let lines: Vec<&str> = text.lines().collect();
        for missing in (0..lines.len()).step_by(23) {
            let kept: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, line)| *line).collect();
            let text = kept.join("\n");
            for (name, entry) in load(name, &text).names.iter() {
                let spans = std::iter::once(&entry.span).chain(&entry.uses);
                for span in spans.filter(|span| span.file == FileId(0)) {
                    let written = &text[span.range()];
                    assert!(
                        written == name || written.contains("..") || written.starts_with(name),
                        "{name}: {written}"
                    );
                }
            }
        }
    }
}
