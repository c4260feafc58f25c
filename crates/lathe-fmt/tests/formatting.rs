//! What formatting promises: shipped files are already formatted, formatting twice changes nothing more, comments stay,
//! and everything keeps its meaning.

use std::path::{Path, PathBuf};

use lathe_asm::{Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_tests::random::Random;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = folder.read_dir().expect("the folder can be read").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            found.push((path, text));
        }
    }
    found
}

fn definitions() -> Vec<(PathBuf, String)> {
    files(&root().join("machines"), "isa")
}

/// Returns every program, with the machine that its folder is named after.
fn programs() -> Vec<(PathBuf, String, Isa)> {
    let all = [root().join("machines"), root().join("benches/programs")];
    let all = all.iter().flat_map(|folder| files(folder, "asm"));
    all.map(|(path, text)| {
        let names = path.iter().rev().filter_map(|part| part.to_str()?.split('.').next());
        let machine = names.clone().find_map(lathe_machines::find).expect("it lies in its machine's folder");
        let isa = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it ships");
        (path, text, isa)
    })
    .collect()
}

/// Returns everything that a definition says, without its spans.
fn meaning(text: &str) -> String {
    let loaded = lathe_isa::load(text);
    let all = format!("{:?} {:?}", loaded.isa, loaded.diagnostics.into_sorted());
    let mut parts = all.split("Span {");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        result.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    result
}

/// Returns the cells of a program, or the number of its diagnostics.
fn image(isa: &Isa, text: &str, path: &Path) -> Result<Vec<(u64, Vec<u64>)>, usize> {
    let folder = path.parent().expect("a file has a folder");
    let mut project = MemoryFiles::default();
    for (path, text) in files(folder, "asm") {
        let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
        project.0.insert(name, text.into_bytes());
    }
    let assembled = assemble(isa, &project, Source::new("main.asm", text), &Options::default());
    let segments = assembled.image.map(|image| image.segments.into_iter().map(|s| (s.start, s.cells)).collect());
    segments.ok_or(assembled.diagnostics.len())
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once("# ")).map(|(_, comment)| comment.trim_end()).collect()
}

/// Varies blanks at the ends and beginnings of lines and between columns.
fn shaken(text: &str, random: &mut Random) -> String {
    let mut result = String::new();
    for line in text.lines() {
        let indent = if line.is_empty() { 0 } else { random.below(12) as usize };
        result.extend(std::iter::repeat_n(' ', indent));
        let mut quoted = false;
        let mut parts = line.trim_start().chars().peekable();
        while let Some(c) = parts.next() {
            quoted ^= c == '"';
            result.push(c);
            if c == ' ' && !quoted && parts.peek() == Some(&' ') {
                while parts.next_if_eq(&' ').is_some() {}
                result.extend(std::iter::repeat_n(' ', 1 + random.below(9) as usize));
            }
        }
        result.push_str(["", " ", "   ", "\t"][random.below(4) as usize]);
        result.push_str(["\n", "\n", "\n", "\n\n\n"][if line.is_empty() { random.below(4) as usize } else { 0 }]);
    }
    result
}

/// Asserts that two texts are the same; shows the first line that differs.
#[track_caller]
fn same(left: &str, right: &str, what: &str) {
    let lines = left.lines().zip(right.lines()).enumerate().find(|(_, (left, right))| left != right);
    assert!(left == right, "{what}: {lines:?}");
}

#[test]
fn shipped_definitions_are_formatted() {
    for (path, text) in definitions() {
        same(&lathe_fmt::definition(&text), &text, &format!("run `lathe fmt {}`", path.display()));
    }
}

#[test]
fn shipped_programs_are_formatted() {
    for (path, text, isa) in programs() {
        same(&lathe_fmt::assembly(&text, Some(&isa)), &text, &format!("run `lathe fmt {}`", path.display()));
    }
}

#[test]
fn a_definition_means_the_same_afterwards() {
    let mut random = Random(0x5EED_0001);
    println!("seed {:#x}", random.0);
    for (path, text) in definitions() {
        let (before, kept) = (meaning(&text), comments(&text));
        for _ in 0..4 {
            let ragged = shaken(&text, &mut random);
            let formatted = lathe_fmt::definition(&ragged);
            same(&lathe_fmt::definition(&formatted), &formatted, &format!("{}: twice is not once", path.display()));
            assert!(meaning(&formatted) == before, "{} means something else:\n{formatted}", path.display());
            let headers = |line: &&&str| !line.contains("  ");
            let left: Vec<_> = comments(&formatted).into_iter().filter(|line| headers(&line)).collect();
            assert_eq!(left, kept.iter().filter(headers).copied().collect::<Vec<_>>(), "{}", path.display());
        }
    }
}

#[test]
fn a_broken_definition_is_broken_in_the_same_way() {
    let mut random = Random(0x5EED_0002);
    println!("seed {:#x}", random.0);
    for (path, text) in definitions() {
        for _ in 0..6 {
            let marks: Vec<usize> = text.match_indices(['{', '}', '|', '"', '#', '(', ';']).map(|(at, _)| at).collect();
            let at = marks[random.below(marks.len() as u64) as usize];
            let broken = format!("{}{}", &text[..at], &text[at + 1..]);
            let formatted = lathe_fmt::definition(&broken);
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert!(bare(&formatted) == bare(&broken), "{} at {at} lost something", path.display());
            same(
                &lathe_fmt::definition(&formatted),
                &formatted,
                &format!("{} at {at}: twice is not once", path.display()),
            );
            let errors = |text: &str| lathe_isa::load(text).diagnostics.len();
            assert_eq!(errors(&formatted), errors(&broken), "{} at {at}", path.display());
        }
    }
}

#[test]
fn a_program_is_the_same_afterwards() {
    let mut random = Random(0x5EED_0003);
    println!("seed {:#x}", random.0);
    for (path, text, isa) in programs() {
        let before = image(&isa, &text, &path);
        let ragged = shaken(&text, &mut random);
        let formatted = lathe_fmt::assembly(&ragged, Some(&isa));
        same(
            &lathe_fmt::assembly(&formatted, Some(&isa)),
            &formatted,
            &format!("{}: twice is not once", path.display()),
        );
        assert!(image(&isa, &formatted, &path) == before, "{} is another program:\n{formatted}", path.display());
    }
}

fn check_assembly(machine: &str, ragged: &str, expected: &str) {
    let isa =
        lathe_isa::load_with(lathe_machines::find(machine).expect("it ships").source(), &lathe_machines::Shipped).isa;
    assert_eq!(lathe_fmt::assembly(ragged, isa.as_ref()), expected);
}

#[test]
fn labels_mnemonics_operands_and_comments_have_columns() {
    check_assembly(
        "hex8",
        "start:loadimm r1,5 ; five\n  .next: output r1;go\nlonglabel: dec r1\n jmp .next\n\n\n;done\nSIZE=8\nTEXT = 9\n",
        "start:  loadimm r1,5            ; five\n.next:  output r1               ;go\nlonglabel: dec r1\n        \
         jmp .next\n\n;done\nSIZE    =8\nTEXT    = 9\n",
    );
}

#[test]
fn a_file_keeps_the_columns_that_most_of_its_lines_have() {
    check_assembly(
        "hex8",
        "    loadimm  r1, 5\n    output   r1\n  dec r1\n",
        "    loadimm  r1, 5\n    output   r1\n    dec      r1\n",
    );
}

#[test]
fn labels_without_a_colon_are_labels() {
    check_assembly(
        "lc3",
        "LOOP ADD R1, R1, #-1\n BRp LOOP\nHALT\n",
        "LOOP    ADD R1, R1, #-1\n        BRp LOOP\n        HALT\n",
    );
}

/// In other assemblers' sources, column 1 may matter.
#[test]
fn dialects_mean_the_same_afterwards() {
    let reference = std::fs::read_to_string(root().join("docs/assembly.md")).expect("it is there");
    let dialects = reference.split("\n## ").find(|part| part.starts_with("Dialects")).expect("it has them");
    let examples: Vec<&str> = dialects.split("```asm\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    assert_eq!(examples.len(), 5);
    for text in examples {
        let name = text.lines().next().and_then(|line| line.strip_prefix(".machine ")).expect("it says its machine");
        let machine = lathe_machines::find(name).expect("it ships");
        let isa = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it ships");
        let loose = text.replace("    ", "  ");
        let formatted = lathe_fmt::assembly(&loose, Some(&isa));
        same(&lathe_fmt::assembly(&formatted, Some(&isa)), &formatted, &format!("{name}: twice is not once"));
        let image = |text: &str| image(&isa, text, &root().join("machines/hex8/hex8.isa"));
        let before = image(text);
        assert!(before.is_ok() && image(&formatted) == before, "{name}: another program:\n{formatted}");
    }
    check_assembly(
        "mos6502",
        "start lda #1 ;one\nmine macro\n inx\n endm\nlater other\nn:=5\n org $400\n",
        "start lda #1                    ;one\nmine macro\n inx\n endm\nlater other\nn :=5\n org $400\n",
    );
}

#[test]
fn what_cannot_be_cut_stays() {
    let text = "/* one\n   two */ output r1\n        .ascii \"a   b\"\n        .byte  'x\n";
    check_assembly("hex8", text, text);
}

#[test]
fn line_ends_stay_as_they_are() {
    assert_eq!(lathe_fmt::definition("register a:u8\r\n"), "register a : u8\r\n");
    check_assembly("hex8", "a:return\r\n", "a:      return\r\n");
}

#[test]
fn a_table_is_aligned_with_the_names_of_its_columns() {
    let ragged = "instructions {\n# syntax  encoding  meaning\nnop|0000 0000|\n  inc D |  0001 00DD| D=D+1 # one\n  \
                  long D, S | 0010 DDSS | {\nD = S\n}\n}\n";
    let tidy = "instructions {\n  # syntax    encoding    meaning\n  nop       | 0000 0000 |\n  \
                inc D     | 0001 00DD | D = D + 1         # one\n  long D, S | 0010 DDSS | {\n    D = S\n  }\n}\n";
    assert_eq!(lathe_fmt::definition(ragged), tidy);
}
