//! A small machine whose datasheet was worked out by hand, from the definition alone: what an instruction touches,
//! signs, conditions, bits of views, the order of operands, hooks, pictures of modes, the last line of the card. Other
//! tests compare a page with the sheet it was made from; this one finds mistakes that both share.

#[allow(dead_code, reason = "other tests read the numbers of a page")]
mod page;

use lathe_doc::{RowData, Sheet};
use page::{table, tables, text};

const DEFINITION: &str = r##"machine hand "Worked out by hand"

memory ram  : u8 -> u8
memory data : u8 -> u8 little
pc pc : u8 in ram
register a, b, c, d : u8
register h          : u16
register z          : u1
register ticks      : u8

view low    = h[7:0]
view middle = h[11:4]
view top    = h[15]
view both   = b ++ a[3:0]

field D, S : register { a, b, c, d }
field U : u4
field I : s4
field F : s4 from next
field P : s4 from pc
field K : u4 back from next
field V : u4 in { 8, 1..3 }
field W : s4 in { -1, 2 }

device console : stream

## Where something is.
operand M : u2 {
  S    | SS where S != c, S != d | S
  ## through `c`
  (c)  | 10                      | z = 1; data[c]
  "#U" | 11 0000 {U}             | ram[zext(U)]
}

## Counts instructions.
before each { ticks = ticks + 1 }
after each when z == 1 { d = 0 }
on illegal { pc = 0x40 }
on step when top == 1 {
  h = 0
}

instructions {
  load D, [S]  | 0001 SSDD     | D = data[S]
  store D, [S] | 0010 SSDD     | data[S] = D
  copy D, [S]  | 0011 SSDD     | data[S] = ram[D]
  up I         | 0100 {I}      | a = a + s8(I)
  set U        | 0101 {U} where U != 0, U != 7 | a = zext(U)
  jump F       | 0110 {F}      | pc = F
  out          | 0111 0000     | console.write(a)
  stop         | 0111 0001     | halt
  wrong        | 0111 0010     | fault "wrong"
  fall         | 0111 0011     | if a == 0 { halt } else { data[0] = 1 }
  clear        | 0111 0100     | z = 0; h = h & 0x7FFF
  raise        | 0111 0101     | h = h | 0x8000; if a == 0 { z = 1 }
  tell M       | 1000 00 MM    | a = M
}
pseudo {
  zero D => load D, [D]
  twice  => out; stop
}
"##;

fn sheet() -> Sheet {
    let loaded = lathe_isa::load(DEFINITION);
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    Sheet::new(&isa, &loaded.written)
}

fn row<'s>(sheet: &'s Sheet, mnemonic: &str) -> &'s RowData {
    sheet.rows.iter().find(|row| row.syntax.split(' ').next() == Some(mnemonic)).expect("there is such a row")
}

/// Returns what the page says about an instruction, without tags.
fn told(page: &str, row: &RowData, what: &str) -> Option<String> {
    let start = format!("<section class=\"instruction\" id=\"{}\">", row.id);
    let section = page.split_once(&start).expect("there is a section").1.split("</section>").next().unwrap_or("");
    let (_, rest) = section.split_once(&format!("<dt>{what}</dt><dd>"))?;
    rest.split("</dd>").next().map(text)
}

#[test]
fn effects() {
    let sheet = sheet();
    let page = lathe_doc::html(&sheet);
    for (mnemonic, effects) in [
        ("load", Some("reads data")),
        ("store", Some("writes data")),
        ("copy", Some("reads ram; writes data")),
        ("up", None),
        ("set", None),
        ("jump", Some("may jump")),
        ("out", Some("uses console")),
        ("stop", Some("may halt")),
        ("wrong", Some("may fault")),
        ("fall", Some("writes data; may halt")),
        ("clear", None),
        ("raise", None),
        // The mode decides which memory.
        ("tell", Some("reads ram, data")),
    ] {
        assert_eq!(told(&page, row(&sheet, mnemonic), "Effects").as_deref(), effects, "{mnemonic}");
    }
}

#[test]
fn flags() {
    let sheet = sheet();
    assert_eq!(sheet.flags().collect::<Vec<_>>(), ["top", "z"]);
    for (mnemonic, flags) in [
        ("load", ""),
        ("clear", "top 0, z 0, "),
        ("raise", "top 1, z changed, "),
        // Only in one of its modes.
        ("tell", "z changed, "),
        ("out", ""),
    ] {
        let all = row(&sheet, mnemonic).instructions[0].flags.iter();
        let told: String = all.map(|flag| format!("{} {}, ", flag.name, flag.effect)).collect();
        assert_eq!(told, flags, "{mnemonic}");
    }
}

#[test]
fn signs_and_distances() {
    let sheet = sheet();
    let words = [
        ("D", "a register"),
        ("S", "a register"),
        ("U", "unsigned 4-bit number"),
        ("I", "signed 4-bit number"),
        ("F", "signed 4-bit distance from the next instruction"),
        ("P", "signed 4-bit distance from this instruction"),
        ("K", "unsigned 4-bit distance backward from the next instruction"),
        ("V", "one of the unsigned 4-bit numbers"),
        ("W", "one of the signed 4-bit numbers"),
    ];
    let told: Vec<(&str, &str)> =
        sheet.fields.iter().map(|field| (field.name.as_str(), field.description.as_str())).collect();
    assert_eq!(told, words);
    // One bit distinguishes two numbers, two bits four.
    let stored: Vec<u32> = sheet.fields.iter().map(|field| field.stored_bits).collect();
    assert_eq!(stored, [2, 2, 4, 4, 4, 4, 4, 2, 1]);
    let page = lathe_doc::html(&sheet);
    let lines: Vec<(String, String)> =
        table(&page, "fields").into_iter().map(|row| (row[0].clone(), row[2].clone())).collect();
    let names = ["D S", "U", "I", "F", "P", "K", "V", "W"];
    let expected = names.iter().zip(words.iter().skip(1)).map(|(names, (_, words))| (*names, *words));
    assert!(lines.iter().map(|(names, words)| (names.as_str(), words.as_str())).eq(expected), "{lines:?}");
}

#[test]
fn conditions() {
    let sheet = sheet();
    let page = lathe_doc::html(&sheet);
    assert_eq!(told(&page, row(&sheet, "set"), "Only").as_deref(), Some("where U != 0, U != 7"));
    assert_eq!(told(&page, row(&sheet, "up"), "Only"), None);
    let summary = table(&page, "summary");
    assert_eq!(summary[4][1], "0101 {U} where U != 0, U != 7");
    assert_eq!(summary[3][1], "0100 {I}");
    let markdown = lathe_doc::markdown(&sheet);
    assert!(markdown.contains("| `set U` | `0101 {U} where U != 0, U != 7` | 1 |"), "{markdown}");
}

#[test]
fn bits_of_views() {
    let sheet = sheet();
    let page = lathe_doc::html(&sheet);
    let expected =
        [["low", "8", "h[7:0]"], ["middle", "8", "h[11:4]"], ["top", "1", "h[15]"], ["both", "12", "b ++ a[3:0]"]];
    let views = table(&page, "views");
    assert!(views.iter().map(|row| &row[..3]).eq(expected.iter().map(|row| &row[..])), "{views:?}");
    let markdown = lathe_doc::markdown(&sheet);
    for [name, bits, is] in expected {
        assert!(markdown.contains(&format!("| `{name}` | {bits} | `{is}` |")), "{name}: {markdown}");
    }
}

/// The syntax has `D` first, the encoding `S`.
#[test]
fn the_order_of_operands() {
    let sheet = sheet();
    let row = row(&sheet, "load");
    assert_eq!(row.operands, ["D", "S"]);
    assert_eq!(row.bits, "0001SSDD");
    let parts: Vec<(&str, u32, Option<usize>)> =
        row.parts.iter().map(|part| (part.label.as_str(), part.width, part.operand)).collect();
    assert_eq!(parts, [("0001", 4, None), ("S", 2, Some(1)), ("D", 2, Some(0))]);
    let page = lathe_doc::html(&sheet);
    let operands = told(&page, row, "Operands");
    assert_eq!(operands.as_deref(), Some("D a register: a, b, c, dS a register: a, b, c, d"));
    // In the picture: boxes from left to right, each with its letters and the numbers of its outer bits.
    let picture = page.split("data-bits=\"0001SSDD\">").nth(1).and_then(|rest| rest.split("</svg>").next());
    let picture = picture.expect("the row has a picture");
    let boxes: Vec<&str> = picture.split("<rect class=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(boxes, ["f", "o o1", "o o0"]);
    let texts: Vec<String> =
        picture.split("<text").skip(1).map(|rest| text(rest.split_once('>').map_or("", |(_, rest)| rest))).collect();
    assert_eq!(texts, ["0", "0", "0", "1", "7", "4", "S", "3", "2", "D", "1", "0"]);
}

#[test]
fn hooks() {
    let sheet = sheet();
    let expected = [
        "## Counts instructions.\nbefore each { ticks = ticks + 1 }",
        "after each when z == 1 { d = 0 }",
        "on illegal { pc = 0x40 }",
        "on step when top == 1 {\n  h = 0\n}",
    ];
    let page = lathe_doc::html(&sheet);
    let part = page.split_once("<h2 id=\"reset\">").and_then(|(_, rest)| rest.split("<h2").next()).unwrap_or("");
    let told: Vec<String> =
        part.split("<pre>").skip(1).map(|rest| text(rest.split("</pre>").next().unwrap_or(""))).collect();
    assert_eq!(told, expected);
    assert!(!part.contains("stops the machine with a fault"), "{part}");
    let markdown = lathe_doc::markdown(&sheet);
    assert!(markdown.contains(&format!("```isa\n{}\n```", expected.join("\n"))), "{markdown}");
}

#[test]
fn modes() {
    let sheet = sheet();
    let page = lathe_doc::html(&sheet);
    let expected = [
        ["S", "SS where S != c, S != d", "S"],
        ["(c)", "10", "z = 1; data[c]; through c"],
        ["#U", "11 0000 {U}", "ram[zext(U)]"],
    ];
    assert_eq!(tables(&page, "modes"), [expected]);
    let markdown = lathe_doc::markdown(&sheet);
    assert!(markdown.contains("\n## Modes of `M`\n\nWhere something is.\n"), "{markdown}");
    assert!(markdown.contains("| `S` | `SS where S != c, S != d` | `S` |\n| `(c)` | `10` |"), "{markdown}");
    let row = row(&sheet, "tell");
    assert_eq!((row.bits.as_str(), row.instructions[0].cells, row.instructions[0].longest), ("100000MM", 1, 2));
    assert_eq!(told(&page, row, "Operands").as_deref(), Some("M S, (c), #U"));
}

#[test]
fn the_end_of_the_card() {
    let card = lathe_doc::card_svg(&sheet());
    let texts: Vec<String> = card
        .split("<text class=\"")
        .skip(1)
        .map(|rest| text(rest.split_once('>').map_or("", |(_, rest)| rest.split("</text>").next().unwrap_or(""))))
        .collect();
    let end = ["Pseudo-instructions", "zero D", "load D, [D]", "twice", "out; stop"];
    assert!(texts.ends_with(&end.map(str::to_owned)), "{texts:?}");
    let start = ["hand", "Worked out by hand", "Registers", "pc", "8 bits", "begins at 0x00", "a b c d", "8 bits", "h"];
    assert!(texts.starts_with(&start.map(str::to_owned)), "{texts:?}");
    // Long text continues on the next line.
    for [first, second] in [
        ["S", "SS where S != c"],
        ["(c)", "10"],
        ["10", "z = 1; data[c]"],
        ["#U", "11 0000 {U}"],
        ["11 0000 {U}", "ram[zext(U)]"],
        ["set U", "0101 {U} where"],
    ] {
        let is_there = texts.windows(2).any(|two| two[0] == first && two[1].starts_with(second));
        assert!(is_there, "{first} {second}: {texts:?}");
    }
}
