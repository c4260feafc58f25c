//! Prose in a definition: `##` on every kind of declaration, and on every row, appears in the datasheet, in the model
//! for other tools, and in what editors show; formatting keeps it.

use std::collections::BTreeSet;

use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_doc::Sheet;
use lathe_edit::definition::ITEMS;

/// A declaration of every kind, with the prose `about NAME` wherever prose is allowed.
const DEFINITION: &str = "\
## about the machine
machine m \"All kinds of declarations\"
## about the memory
memory ram : u8 -> u8
## about the counter
pc pc : u8 in ram
## about the register
register a, b : u8
register c : u8  ## about another register, after it
## about the constant
constant zero : u8 = 0
## about the mode
mode wide : u1
## about the view
view low = a[3:0]
## about the field
field N : u8
## about the list
field R : register { a, b }
## about the device
device console : stream
## about the map
map ram {
  ## about the mapped address
  0xF0 | console.read() | console.write(value)
  (0xF0 + 1) | 7 |  ## about another address, after it
}
## about the data
data ram 0x50 { 1, 2 }
## about the width
width W = 8
## about the trap
trap divide = 2
trap other = 3  ## about another trap, after it
## about the function
fn twice(x: u8) -> u8 { x + x }
## about the family
family OP : u1 (x: u8) -> u8 {
  ## about the member
  inc = x + 1
  dec = x - 1
}
## about the operand
operand S : u2 {
  ## about the mode
  R   | 0R | R
  (R) | 1R | ram[R]
}
## about the prefix
prefix p 0xDD with a = b { }
## about what is illegal
on illegal { fault \"no such instruction\" }
## about the step
on step when c == 1 { c = 0 }
## about before
before each { b = b + zero }
## about after
after each when a == 9 { a = twice(low ++ low) }
## about the assembly
assembly {
  ## about the habit
  db = .byte
  ## about the function of expressions
  %half(V) = V >> 1
  ## about the comment
  comment \"@\"
  ## about the separator
  separator \"!\"
  ## about the number
  prefix \"$\" = 16
  ## about bare labels
  bare labels
  ## about case
  caseless labels
  ## about octal numbers
  octal numbers
}
## about the instructions
instructions {
  ## about the row
  ldi N  | 0x01 {N}   | a = N
  {OP} a | 000 0100 {OP} | a = OP(a)
  get S  | 0010 00 {S} | a = S

  ## about the second group
  ## and more about it

  nop | 0x00 |
}
instructions after p {
  tst | 0x03 | a = a
}
## about the pseudo-instructions
pseudo {
  ## about the pseudo-instruction
  clr => ldi 0
}
## about the examples
examples {
  ## about the example
  ldi 5 : -> a = 5
}
";

/// Returns the prose of the definition, without `##`.
fn prose() -> Vec<&'static str> {
    let parts = DEFINITION.lines().filter_map(|line| line.split_once("## ").map(|(_, prose)| prose));
    parts.collect()
}

fn sheet(text: &str) -> Sheet {
    let loaded = lathe_isa::load_with(Source::new("m.isa", text), &MemoryFiles::default());
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    Sheet::new(&isa, &loaded.written)
}

/// A new kind of declaration must be added to the definition above. `include` and `remove` declare nothing.
#[test]
fn every_kind_of_declaration_is_here() {
    let first = |line: &'static str| line.split_whitespace().next();
    let written: BTreeSet<&str> = DEFINITION.lines().filter(|line| !line.starts_with(' ')).filter_map(first).collect();
    for (word, _) in ITEMS.iter().filter(|(word, _)| !["include", "remove"].contains(word)) {
        assert!(written.contains(word), "`{word}` is missing here");
        let above = DEFINITION.split_once(&format!("\n{word} ")).and_then(|(before, _)| before.lines().next_back());
        assert!(above.is_some_and(|line| line.starts_with("## ")), "nothing is said about `{word}`");
    }
}

#[test]
fn datasheets_have_all_prose() {
    let sheet = sheet(DEFINITION);
    let pages = [lathe_doc::html(&sheet), lathe_doc::markdown(&sheet), lathe_doc::json(&sheet)];
    for (page, name) in pages.iter().zip(["HTML", "Markdown", "JSON"]) {
        for prose in prose() {
            assert!(page.contains(prose), "`{prose}` is not in the {name}");
        }
    }
    assert_eq!(sheet.maps[1].read, "7", "an address that is computed has its row");
}

/// Hovering over the first word of a declaration or row shows its prose.
#[test]
fn editors_show_all_prose() {
    let sheet = sheet(DEFINITION);
    let mut at = 0;
    let mut above = Vec::new();
    for line in DEFINITION.split_inclusive('\n') {
        let (code, after) =
            line.trim().split_once("##").map_or((line.trim(), None), |(code, prose)| (code, Some(prose)));
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        if code.is_empty() {
            // A heading, with an empty line below it, is about no single row.
            above = if after.is_none() { Vec::new() } else { [above, after.into_iter().collect()].concat() };
            continue;
        }
        above.extend(after);
        let shown = lathe_edit::hover::definition(DEFINITION, start, &MemoryFiles::default(), Some(&sheet));
        for prose in above.drain(..) {
            assert!(shown.as_ref().is_some_and(|shown| shown.contains(prose.trim())), "{code}: `{prose}` in {shown:?}");
        }
    }
}

#[test]
fn formatting_keeps_all_prose() {
    let tidy = lathe_fmt::definition(DEFINITION);
    let all = |text: &str| text.matches("## ").count();
    assert_eq!(all(&tidy), all(DEFINITION));
    assert_eq!(lathe_doc::json(&sheet(&tidy)), lathe_doc::json(&sheet(DEFINITION)));
}
