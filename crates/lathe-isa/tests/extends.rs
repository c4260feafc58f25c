//! Machines that extend others: what they inherit, what they replace, and where mistakes are reported.

use lathe_base::files::MemoryFiles;
use lathe_base::{Severity, Source};
use lathe_isa::{Isa, Loaded, load_with};

const BASE: &str = r#"
machine base "The teacher's machine"
memory ram : u8 -> u8
pc pc : u8 in ram
register r0..r3 : u8
register flag : u1
field D, S : register { r0..r3 }
field N : u8
trap first = 1, second = 2
device console : stream
map ram {
  0xF0 | console.read() | console.write(value)
  0xF1 | first |
}
fn result(x: u8) -> u8 { flag = x == 0; x }
family OP : u1 (x: u8, y: u8) -> u8 {
  add = result(x + y)
  sub = result(x - y)
}
on illegal { flag = 1; pc = 0x80 }
instructions {
  {OP} D, S | 000{OP} DDSS   | D = OP(D, S)
  ldi D, N  | 0010 00DD {N}  | D = N
  ld D      | 0011 00DD      | D = ram[r3]
  stop      | 1111 1111      | halt
}
pseudo {
  clr D => sub D, D
  mov D, S => sub D, D; add D, S
}
examples {
  stop : -> halted
}
"#;

fn load(own: &str, others: &[(&str, &str)]) -> Loaded {
    let files =
        others.iter().chain(&[("base.isa", BASE)]).map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    load_with(Source::new("own.isa", own), &MemoryFiles(files.collect()))
}

fn sound(own: &str, others: &[(&str, &str)]) -> Isa {
    let loaded = load(own, others);
    let found: Vec<String> = loaded.diagnostics.into_sorted().into_iter().map(|one| one.message).collect();
    assert_eq!(found, Vec::<String>::new());
    loaded.isa.expect("nothing is wrong with it")
}

/// Returns the code of each finding, its file, and the text at its place.
fn findings(own: &str, others: &[(&str, &str)]) -> Vec<(&'static str, String, String)> {
    let loaded = load(own, others);
    let written = loaded.written;
    let found = loaded.diagnostics.into_sorted().into_iter();
    found
        .map(|one| {
            let span = one.primary.span;
            (one.code.name, written.sources[span.file.0 as usize].name.clone(), written.at(span).to_owned())
        })
        .collect()
}

fn syntaxes(isa: &Isa) -> Vec<String> {
    let names =
        isa.instructions.iter().map(|one| one.syntax.render(|index| isa.field(one.operands[index]).name.clone()));
    names.collect()
}

#[test]
fn everything_but_examples_is_taken_over() {
    let base = load(BASE, &[]).isa.expect("nothing is wrong with it");
    let isa = sound("machine own extends base \"Mine\"\n", &[]);
    assert_eq!((isa.name.as_str(), isa.title.as_str()), ("own", "Mine"));
    assert_eq!(syntaxes(&isa), syntaxes(&base));
    assert_eq!((isa.pseudos.len(), isa.maps.len(), isa.registers.len()), (2, 2, 5));
    assert!(isa.on_illegal.is_some());
    assert_eq!((base.examples.len(), isa.examples.len()), (1, 0));
}

#[test]
fn what_is_declared_again_replaces_what_was_there() {
    let isa = sound(
        r#"machine own extends base "Mine"
memory ram : u8 -> u8 little
pc ip : u8 in ram = 0x10
register r2 : u8 = 7
field S : register { r3, r2, r1, r0 }
trap second = 3
map ram {
  0xF1 | second |
}
fn result(x: u8) -> u8 { flag = x != 0; x }
on illegal { halt }
instructions {
  ld  D | 0011 01DD | D = ram[r2]
  stop  | 1111 0000 | halt
}
pseudo {
  clr D => ldi D, 0
}
"#,
        &[],
    );
    assert_eq!((isa.pc.name.as_str(), isa.pc.reset), ("ip", 0x10));
    assert_eq!(syntaxes(&isa), ["add D, S", "sub D, S", "ldi D, N", "ld D", "stop"]);
    assert_eq!(isa.registers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["r0", "r1", "r3", "flag", "r2"]);
    assert_eq!(isa.pseudos.iter().map(|one| one.expansion.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(isa.traps, [("first".to_owned(), 1), ("second".to_owned(), 3)]);
    assert_eq!(isa.maps.len(), 2);
    let names = |field: &str| match &isa.fields.iter().find(|one| one.name == field).expect("it is there").domain {
        lathe_isa::model::Domain::Registers(list) => list.iter().flatten().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    };
    assert_eq!(names("S"), ["r3", "r2", "r1", "r0"]);
    assert_eq!(names("D"), ["r0", "r1", "r2", "r3"]);
}

#[test]
fn what_is_removed_is_gone() {
    let isa = sound(
        "machine own extends base \"Mine\"\nremove console, on illegal\nremove {\n  ld D\n  {OP}  D,S\n  clr D  # too\n  mov D, S }\n\
         map ram {\n 0xF0 | 0 |\n}\n",
        &[],
    );
    assert_eq!(syntaxes(&isa), ["ldi D, N", "stop"]);
    assert!(isa.devices.is_empty() && isa.on_illegal.is_none() && isa.pseudos.is_empty());
}

#[test]
fn a_machine_can_be_made_from_one_that_was_made_from_another() {
    let middle = "machine middle extends base \"\"\nremove {\n stop\n}\n";
    let isa = sound(
        "machine own extends middle \"\"\ninstructions {\n  end | 1111 1111 | halt\n}\n",
        &[("middle.isa", middle)],
    );
    assert_eq!(syntaxes(&isa).last().map(String::as_str), Some("end"));
}

#[test]
fn what_is_included_stands_in_its_place() {
    let part = "fn twice(x: u8) -> u8 { x + x }\ninclude \"more.isa\"\n";
    let more = "instructions {\n  dbl D | 0100 00DD | D = twice(D)\n}\n";
    let isa = sound("machine own extends base \"\"\ninclude \"part.isa\"\n", &[("part.isa", part), ("more.isa", more)]);
    assert!(syntaxes(&isa).contains(&"dbl D".to_owned()));
}

#[test]
fn mistakes_are_reported_in_the_file_that_has_them() {
    let wrong = "fn twice(x: u8) -> u8 { x + y }\ninstructions {\n  dbl D | 0100 00DD | D = twice(D)\n}\n";
    let own = "machine own extends base \"\"\ninclude \"part.isa\"\n";
    assert_eq!(findings(own, &[("part.isa", wrong)]), [("E201", "part.isa".into(), "y".into())]);
    // An inherited row that no longer has what it needs, and a row whose encoding is taken.
    let removed = findings("machine own extends base \"\"\nremove flag\n", &[]);
    assert_eq!(removed, [("E201", "base.isa".into(), "flag".into())]);
    let taken = findings("machine own extends base \"\"\ninstructions {\n  end | 1111 1111 | halt\n}\n", &[]);
    assert_eq!((taken.len(), taken[0].0, taken[0].1.as_str()), (1, "E401", "own.isa"));
}

#[test]
fn what_cannot_be_used_is_reported_once() {
    let only = |own: &str, others: &[(&str, &str)]| {
        let found = findings(own, others);
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].0, found[0].2.clone())
    };
    let use_everything =
        "instructions {\n  dbl D | 0100 00DD | D = twice(D)\n}\nexamples {\n  dbl r0 : r0 = 1 -> r0 = 2\n}\n";
    let own = format!("machine own extends nowhere \"\"\n{use_everything}");
    assert_eq!(only(&own, &[]), ("E209", "nowhere".into()));
    let own = format!("machine own \"\"\ninclude \"nowhere.isa\"\n{use_everything}");
    assert_eq!(only(&own, &[]), ("E209", "\"nowhere.isa\"".into()));
    assert_eq!(only("machine own extends \"own.isa\" \"\"\n", &[("own.isa", "")]), ("E209", "\"own.isa\"".into()));
    let included = "machine own extends base \"\"\ninclude \"base.isa\"\n";
    assert_eq!(only(included, &[]), ("E209", "\"base.isa\"".into()));
    assert_eq!(only("machine own extends part \"\"\n", &[("part.isa", "trap a = 1\n")]), ("E209", "part".into()));
    let deep: Vec<(String, String)> =
        (0..100).map(|at| (format!("d{at}.isa"), format!("machine d{at} extends d{} \"\"\n", at + 1))).collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(only("machine own extends d0 \"\"\n", &deep).0, "E901");
}

#[test]
fn a_declaration_taken_over_and_not_used_any_more_is_no_warning() {
    let loaded = load("machine own extends base \"\"\nremove {\n ldi D, N\n}\nregister idle : u8\n", &[]);
    let warnings = loaded.diagnostics.into_sorted();
    let warned: Vec<_> =
        warnings.iter().filter(|one| one.severity() == Severity::Warning).map(|one| &one.message).collect();
    assert_eq!(warned, ["nothing reads the register `idle`"]);
}
