//! Every number on a datasheet is that of the model: on the page, in the Markdown, on the card and in the JSON, for all
//! machines. The expected numbers are worked out here from the model alone.

mod page;

use std::collections::BTreeSet;

use lathe_doc::Sheet;
use lathe_isa::Isa;
use lathe_isa::coverage::coverage;
use lathe_isa::encoding::{Encoding, cells};
use lathe_isa::model::{DeviceKind, Domain, Field, Instruction};
use lathe_isa::semantics::{Block, Statement};
use page::{digits, machines, number, table, tables, text, written as written_number};
use serde_json::Value;

/// Groups instructions that differ only in the modes of operands: to a reader, they are one.
fn shown(isa: &Isa) -> Vec<Vec<&Instruction>> {
    let mut shown: Vec<Vec<&Instruction>> = Vec::new();
    for one in &isa.instructions {
        match shown.iter_mut().find(|known| known[0].row == one.row && known[0].is_seen_as(one)) {
            Some(known) => known.push(one),
            None => shown.push(vec![one]),
        }
    }
    shown
}

/// Groups by row what a reader sees.
fn rows(isa: &Isa) -> Vec<Vec<Vec<&Instruction>>> {
    let mut rows: Vec<Vec<Vec<&Instruction>>> = Vec::new();
    for one in shown(isa) {
        match rows.last_mut() {
            Some(row) if row[0][0].row == one[0].row => row.push(one),
            _ => rows.push(vec![one]),
        }
    }
    rows
}

/// Writes the least and the greatest of some numbers.
fn range(numbers: impl Iterator<Item = u64> + Clone) -> String {
    let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least}–{most}") }
}

/// Yields the lengths of an instruction in cells, its modes included.
fn lengths<'i>(all: &'i [&Instruction]) -> impl Iterator<Item = u64> + Clone + 'i {
    std::iter::once(all[0].look().1.cells).chain(all.iter().map(|one| one.encoding.cells).max()).map(u64::from)
}

/// Returns the fewest and the most cycles of an instruction.
fn cycles(instruction: &Instruction) -> [u64; 2] {
    fn of(block: &Block) -> [u64; 2] {
        let mut sum = [0u64; 2];
        for statement in block {
            let more = match statement {
                Statement::Cycles(value) => {
                    let mask = value.width.mask();
                    value.as_constant().map_or([0, mask], |known| [known, known])
                }
                Statement::If { then, otherwise, .. } => {
                    let (then, otherwise) = (of(then), of(otherwise));
                    [then[0].min(otherwise[0]), then[1].max(otherwise[1])]
                }
                _ => [0, 0],
            };
            sum = [sum[0].saturating_add(more[0]), sum[1].saturating_add(more[1])];
        }
        sum
    }
    of(&instruction.body.block).map(|more| instruction.cycles.saturating_add(more))
}

fn cycles_of_row(row: &[Vec<&Instruction>]) -> String {
    range(row.iter().flatten().flat_map(|one| cycles(one)).collect::<Vec<_>>().into_iter())
}

/// Returns the fields that a definition declares: after a prefix, a field of the same name stands for other registers,
/// and fields made for modes do not concern a reader.
fn fields(isa: &Isa) -> Vec<&Field> {
    let mut known = BTreeSet::new();
    let declared = isa.fields.iter().filter(|field| isa.names.get(&field.name).is_some());
    declared.filter(|field| known.insert(&field.name)).collect()
}

fn flags(isa: &Isa) -> usize {
    let is_flag = |width: u32, constant: bool| width == 1 && !constant;
    let registers = isa.registers.iter().filter(|one| is_flag(one.width.bits(), one.constant)).count();
    let views = isa.views.iter().filter(|view| {
        let [part] = view.place.parts.as_slice() else { return false };
        let whole = isa.register(part.register);
        view.place.width.bits() == 1 && !is_flag(whole.width.bits(), whole.constant)
    });
    registers + views.count()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0).trim_end_matches(".0").to_owned() + "\u{202F}%"
}

/// Reads `64 Ki` as a number.
fn size(text: &str) -> u128 {
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let shift = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|known| *known == unit).expect("a unit");
    u128::from(number(digits)) << (10 * shift)
}

/// Returns the code of a name, or of a number in a list.
fn code_of(field: &Field, name: &str) -> Option<u64> {
    match &field.domain {
        Domain::Values(values) => values.code(name.parse().ok()?),
        _ => field.bits_named(name),
    }
}

#[test]
fn the_summary_of_a_page() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let facts: Vec<(String, String)> = page
            .split("<div class=\"facts\">")
            .nth(1)
            .expect("there are facts")
            .split("<div><b>")
            .skip(1)
            .map(|fact| fact.split_once("</b><span>").expect("a fact"))
            .map(|(number, what)| (number.to_owned(), what.split('<').next().unwrap_or("").to_owned()))
            .collect();
        let fact = |what: &str| {
            let found = facts.iter().find(|(_, known)| known.contains(what)).unwrap_or_else(|| panic!("{what}"));
            (found.0.as_str(), found.1.as_str())
        };
        let all = shown(&isa);
        let rows = rows(&isa).len();
        let (count, words) = fact("instructions");
        assert_eq!(number(count), all.len() as u64, "{}", isa.name);
        let from =
            if rows == all.len() { "instructions".to_owned() } else { format!("instructions, from {rows} rows") };
        assert_eq!(words, from);
        let code = isa.code_memory();
        let (length, words) = fact("an instruction, of");
        assert_eq!(
            length,
            range(all.iter().flat_map(|one| lengths(one)).collect::<Vec<_>>().into_iter()),
            "{}",
            isa.name
        );
        assert!(words.contains(&format!("of {} bits", code.cell.bits())), "{words}");
        let plain = isa.registers.iter().filter(|one| !one.is_flag()).count() as u64;
        assert_eq!(number(fact("registers").0), plain);
        assert_eq!(size(fact("cells of code memory").0), code.cells());
        if flags(&isa) > 0 {
            assert_eq!(number(fact("flag").0), flags(&isa) as u64, "{}", isa.name);
        }
        let share = coverage(&isa).share.map(percent);
        assert_eq!(share.is_some(), facts.iter().any(|(_, what)| what == "of encodings defined"));
        if let Some(share) = share {
            assert_eq!(fact("of encodings defined").0, share);
            assert!(page.contains(&format!(" {share} of all encodings are defined.")), "{}", isa.name);
        }
        assert_eq!(page.matches("Execution begins at").count(), 1);
        let start = page.split("Execution begins at <code>").nth(1).and_then(|rest| rest.split('<').next());
        assert_eq!(start.map(|start| written_number(&isa, start)), Some(isa.pc.reset));
        let passed = format!("{0} of {0} examples came out as written", isa.examples.len());
        assert!(isa.examples.is_empty() || page.contains(&passed), "{}", isa.name);
    }
}

#[test]
fn memories_contents_and_devices_of_a_page() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let memories = table(&page, "memories");
        assert_eq!(memories.len(), isa.memories.len());
        for (row, memory) in memories.iter().zip(&isa.memories) {
            let (first, last) = row[3].split_once(" to ").expect("a range");
            assert_eq!((written_number(&isa, first), written_number(&isa, last)), (0, memory.last()), "{}", isa.name);
            assert_eq!((u128::from(number(&row[1])), number(&row[2])), (memory.cells(), memory.cell.bits().into()));
        }
        let contents = table(&page, "contents");
        assert_eq!(contents.len(), isa.contents.len());
        for (row, contents) in contents.iter().zip(&isa.contents) {
            let (address, count) = (written_number(&isa, &row[1]), number(&row[2]));
            assert_eq!((address, count), (contents.address, contents.values.len() as u64));
            let cells: Vec<u64> = row[3].split(' ').map(|cell| digits(&isa, cell)).collect();
            assert_eq!(cells, contents.values, "{}", isa.name);
        }
        let devices = table(&page, "devices");
        assert_eq!(devices.len(), isa.devices.len());
        for (row, device) in devices.iter().zip(&isa.devices) {
            let kind = match device.kind {
                DeviceKind::Stream => "stream".to_owned(),
                DeviceKind::Counter => "counter".to_owned(),
                DeviceKind::Bus { address, value } => format!("bus {address} -> {value}"),
                DeviceKind::Display { width, height } => format!("display {width} by {height}"),
                DeviceKind::Keypad { keys } => format!("keypad {keys}"),
                DeviceKind::Timer { width, every } => format!("timer {width} every {every}"),
                DeviceKind::Random { width } => format!("random {width}"),
            };
            assert_eq!((row[0].as_str(), row[1].as_str()), (device.name.as_str(), kind.as_str()));
            let operations: Vec<String> = device
                .kind
                .operations()
                .iter()
                .map(|one| {
                    let arguments: Vec<String> = one.arguments.iter().map(ToString::to_string).collect();
                    let result = one.result.map_or(String::new(), |width| format!(" -> {width}"));
                    format!("{}({}){result}", one.operation.name(), arguments.join(", "))
                })
                .collect();
            assert_eq!(row[2], operations.join(" "), "{}", isa.name);
        }
        assert_eq!(table(&page, "traps").len(), isa.traps.len());
        assert_eq!(table(&page, "views").len(), isa.views.len());
    }
}

/// Returns every listed name with its code: `r0..r3` is four names, `x1/ra` two.
fn expanded(names: &str, codes: &str) -> Vec<(String, String)> {
    let Some(((first, last), (from, to))) = names.split_once("..").zip(codes.split_once("..")) else {
        return names.split('/').map(|name| (name.to_owned(), codes.to_owned())).collect();
    };
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let count = |name: &str| name.strip_prefix(stem).and_then(|digits| digits.parse::<u64>().ok()).expect("it counts");
    assert_eq!(count(last) - count(first), number(to) - number(from), "{names} {codes}");
    let name = |at: u64| (format!("{stem}{}", count(first) + at), (number(from) + at).to_string());
    (0..=count(last) - count(first)).map(name).collect()
}

#[test]
fn operands_of_a_page() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let all = table(&page, "fields");
        let told = all.iter().flat_map(|row| row[0].split(' ').map(move |name| (name, row)));
        for ((name, row), field) in told.zip(fields(&isa)) {
            assert_eq!(name, field.name);
            let (width, stored) = (field.width.bits(), field.stored_bits());
            let bits = if width == stored { width.to_string() } else { format!("{width}, {stored} stored") };
            assert_eq!(row[1], bits, "{} {name}", isa.name);
            let codes = row.get(3).map_or("", String::as_str);
            let mut count = 0;
            for pair in codes.split(", ").filter(|pair| !pair.is_empty()) {
                let (names, code) = pair.split_once('\u{A0}').expect("a name and its code");
                for (name, code) in expanded(names, code) {
                    assert_eq!(code_of(field, &name), Some(number(&code)), "{} {name}", isa.name);
                    count += 1;
                }
            }
            let known = match &field.domain {
                Domain::Registers(list) => list.iter().flatten().count(),
                // Words in any order are listed one by one.
                Domain::Names(_) if field.has_words() => field.words.len(),
                Domain::Names(list) => list.len(),
                Domain::Values(values) => values.numbers().count(),
                Domain::Number(_) => 0,
            };
            assert!(count >= known, "{} {name}: {count} of {known}", isa.name);
            if let Domain::Number(_) = field.domain {
                assert!(
                    row[2].contains(&format!("{width}-bit")) || row[2].contains(&format!("low {width} bits")),
                    "{row:?}"
                );
            }
        }
    }
}

#[test]
fn the_opcode_map_of_a_page() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let coverage = coverage(&isa);
        let map =
            page.split("<table class=\"map\">").nth(1).and_then(|rest| rest.split("</table>").next()).expect("a map");
        let columns = 1usize << coverage.bits.min(4);
        // For octal machines, the four bits themselves.
        let octal = isa.assembly.octal_numbers;
        let four = |bits: usize| if octal { format!("{bits:04b}") } else { format!("{bits:X}") };
        let heads: Vec<String> = (0..columns).map(|column| format!("_{}", four(column))).collect();
        let (head, body) = map.split_once("</thead>").expect("a head");
        assert_eq!(head.split("<th>").skip(2).map(text).collect::<Vec<_>>(), heads);
        let sides: Vec<String> =
            body.split("<tr><th>").skip(1).map(|row| text(row.split("</th>").next().unwrap_or(""))).collect();
        let expected: Vec<String> =
            (0..coverage.slots.len().div_ceil(columns)).map(|row| format!("{}_", four(row))).collect();
        assert_eq!(sides, expected, "{}", isa.name);
        for (cell, slot) in body.split("<td class=\"").skip(1).zip(&coverage.slots) {
            let names: BTreeSet<&str> =
                slot.instructions.iter().map(|id| isa.instruction(*id).syntax.mnemonic()).collect();
            let more = cell.split_once("<br>+").map_or(0, |(_, rest)| number(rest.split('<').next().unwrap_or("")));
            assert_eq!(more, names.len().saturating_sub(1) as u64, "{}: {cell}", isa.name);
        }
        let bits = if coverage.bits == isa.code_memory().cell.bits() {
            "By the first cell.".to_owned()
        } else {
            format!("By the first {} bits.", coverage.bits)
        };
        assert!(page.contains(&bits), "{}: {bits}", isa.name);
    }
}

/// Returns the number in `n cells`, `n cycles` or `n instructions`.
fn tag(section: &str, what: &str) -> Option<String> {
    let tags = section.split("<span class=\"tag\">").skip(1).map(|tag| tag.split('<').next().unwrap_or(""));
    let mut tags = tags.filter_map(|tag| tag.split_once(' '));
    tags.find(|(_, word)| word.trim_end_matches('s') == what).map(|(number, _)| number.to_owned())
}

#[test]
fn every_instruction_of_a_page() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let page = lathe_doc::html(&sheet);
        let summary = table(&page, "summary");
        let sections: Vec<&str> = page.split("<section class=\"instruction\"").skip(1).collect();
        let rows = rows(&isa);
        assert_eq!((summary.len(), sections.len()), (rows.len(), rows.len()), "{}", isa.name);
        for (((line, section), row), data) in summary.iter().zip(&sections).zip(&rows).zip(&sheet.rows) {
            let section = section.split("</section>").next().unwrap_or("");
            let length = range(lengths(&row[0]));
            assert_eq!(line[2], length, "{} {}", isa.name, line[0]);
            assert_eq!(tag(section, "cell"), Some(length));
            assert_eq!(tag(section, "instruction").map_or(1, |count| number(&count)), row.len() as u64);
            let counted = isa.has_cycles.then(|| cycles_of_row(row));
            assert_eq!(tag(section, "cycle"), counted, "{} {}", isa.name, line[0]);
            if let Some(counted) = counted {
                assert_eq!(line[3], counted);
            }
            for (member, one) in table(section, "members").iter().zip(row) {
                assert_eq!(member[1], *bits_of(&sheet, data.word_bits, one[0], &isa), "{} {}", isa.name, member[0]);
                if isa.has_cycles {
                    let all: Vec<u64> = one.iter().flat_map(|one| cycles(one)).collect();
                    assert_eq!(member[2], range(all.into_iter()), "{} {}", isa.name, member[0]);
                }
            }
            diagram(section, data);
            // The picture of the row: the bits that its instructions share, without those that have a prefix.
            let shortest = row.iter().map(|one| one[0].look().1.cells).min();
            let plain: Vec<String> = row
                .iter()
                .filter(|one| Some(one[0].look().1.cells) == shortest)
                .map(|one| bits_of(&sheet, data.word_bits, one[0], &isa))
                .collect();
            let same = |at: usize| plain.iter().all(|bits| bits.as_bytes()[at] == plain[0].as_bytes()[at]);
            let picture: String = plain[0].char_indices().map(|(at, c)| if same(at) { c } else { '*' }).collect();
            assert_eq!(data.bits, picture, "{} {}", isa.name, line[0]);
        }
        let told = tables(&page, "examples").concat();
        assert_eq!(told.len(), isa.examples.len());
        for example in &isa.examples {
            let encoding = &isa.instruction(example.instruction).encoding;
            let all = cells(encoding.encode(&example.operands), isa.code_memory().cell).take(encoding.cells as usize);
            let all: Vec<u64> = all.collect();
            let read = |row: &Vec<String>| row[1].split(' ').map(|cell| digits(&isa, cell)).collect::<Vec<_>>();
            assert!(
                told.iter().any(|row| row[0] == example.source && read(row) == all),
                "{} {}",
                isa.name,
                example.source
            );
        }
        let mut opcodes: Vec<String> = table(&page, "opcodes").into_iter().map(|row| row[0].clone()).collect();
        let words = sheet.rows.iter().zip(&rows);
        let mut expected: Vec<String> = words
            .flat_map(|(data, row)| {
                row.iter().map(|one| bits_of(&sheet, data.word_bits, one[0], &isa)).collect::<Vec<_>>()
            })
            .collect();
        opcodes.sort();
        expected.sort();
        assert_eq!(opcodes, expected, "{}", isa.name);
    }
}

/// Returns the bits of an instruction, one character each, in the order of its picture.
fn bits_of(sheet: &Sheet, word: u32, one: &Instruction, isa: &Isa) -> String {
    let encoding = one.look().1;
    let name = |operand: usize| match &one.form {
        Some(form) => form.operands[operand].0.clone(),
        None => isa.field(one.operands[operand]).name.clone(),
    };
    let character = |shift: u32| match owner(encoding, shift) {
        Some((operand, _)) => name(operand).chars().next().expect("a name"),
        None if encoding.fixed.mask >> shift & 1 == 0 => '-',
        None => {
            if encoding.fixed.value >> shift & 1 == 1 {
                '1'
            } else {
                '0'
            }
        }
    };
    let cell = isa.code_memory().cell.bits();
    let all: Vec<char> = (0..encoding.cells * cell).map(|at| character(127 - at)).collect();
    let is_little = word > cell && sheet.memories.iter().any(|memory| memory.code && memory.order == "little");
    let words = all.chunks(word as usize).flat_map(|word| {
        let cells = word.chunks(cell as usize);
        if is_little { cells.rev().flatten().copied().collect::<Vec<_>>() } else { word.to_vec() }
    });
    words.collect()
}

/// Returns the operand that a bit of the window belongs to, and the number of its bit.
fn owner(encoding: &Encoding, shift: u32) -> Option<(usize, u32)> {
    encoding.operands.iter().enumerate().find_map(|(operand, segments)| {
        let segment = segments.iter().find(|one| (one.shift..one.shift + one.width.bits()).contains(&shift))?;
        Some((operand, segment.low + shift - segment.shift))
    })
}

/// Checks that the numbers above the boxes of a picture count down in every word, that the boxes are as wide as their
/// bits, and that they contain the bits of the row.
fn diagram(section: &str, data: &lathe_doc::RowData) {
    let svg =
        section.split("<svg class=\"bits\"").nth(1).and_then(|rest| rest.split("</svg>").next()).expect("a picture");
    assert!(svg.contains(&format!("data-bits=\"{}\"", data.bits)), "{svg}");
    let mut at = 0;
    let mut boxes = svg.split("<rect class=\"").skip(1);
    for part in &data.parts {
        let (one, word) = (boxes.next().expect("a box"), data.word_bits);
        let numbers: Vec<u64> = one
            .split("<text class=\"n\"")
            .skip(1)
            .map(|rest| text(rest.split_once('>').expect("a tag").1.split("</text>").next().unwrap_or("")))
            .filter(|text| !text.starts_with('['))
            .map(|text| number(&text))
            .collect();
        let high = u64::from(word - 1 - at % word);
        let low = high + 1 - u64::from(part.width);
        assert_eq!(numbers, if low == high { vec![high] } else { vec![high, low] }, "{}: {}", data.syntax, part.label);
        let inside: String = one
            .split("<text ")
            .skip(1)
            .filter(|rest| !rest.starts_with("class=\"n\"") || rest.contains(">["))
            .map(|rest| text(rest.split_once('>').expect("a tag").1.split("</text>").next().unwrap_or("")))
            .collect();
        assert_eq!(inside, part.label, "{}", data.syntax);
        let bits: String = data.bits.chars().skip(at as usize).take(part.width as usize).collect();
        match part.operand {
            None => assert_eq!(bits, part.label, "{}", data.syntax),
            Some(_) => assert!(part.label.starts_with(&bits[..bits.chars().next().map_or(0, char::len_utf8)])),
        }
        at += part.width;
    }
    assert!(boxes.next().is_none(), "{}: more boxes than parts", data.syntax);
    assert_eq!(at as usize, data.bits.chars().count());
}

/// The parts of a picture say which bits of an operand they are.
#[test]
fn parts_of_operands() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let all = sheet.rows.iter().flat_map(|row| row.instructions.iter().map(move |one| (row, one)));
        for ((row, one), instruction) in all.zip(shown(&isa)) {
            let encoding = instruction[0].look().1;
            let (cell, word) = (isa.code_memory().cell.bits(), row.word_bits);
            let mut at = 0;
            for part in &one.parts {
                let bits: Vec<Option<(usize, u32)>> = (at..at + part.width)
                    .map(|at| {
                        if word > cell {
                            at / word * word + (word - 1 - at % word) / cell * cell + at % cell
                        } else {
                            at
                        }
                    })
                    .map(|at| owner(encoding, 127 - at))
                    .collect();
                at += part.width;
                let Some(operand) = part.operand else {
                    assert!(bits.iter().all(Option::is_none), "{} {}", isa.name, one.syntax);
                    continue;
                };
                assert!(
                    bits.iter().all(|bit| bit.is_some_and(|(owner, _)| owner == operand)),
                    "{} {}",
                    isa.name,
                    one.syntax
                );
                let Some((_, inside)) = part.label.split_once('[') else { continue };
                let (high, low) =
                    inside.trim_end_matches(']').split_once(':').unwrap_or((inside.trim_end_matches(']'), ""));
                let low = if low.is_empty() { high } else { low };
                let number =
                    |bit: Option<&Option<(usize, u32)>>| bit.copied().flatten().map(|(_, number)| u64::from(number));
                assert_eq!(
                    (number(bits.first()), number(bits.last())),
                    (Some(page::number(high)), Some(page::number(low)))
                );
            }
        }
    }
}

/// Returns the tables of a section of the Markdown, without heads.
fn section(markdown: &str, title: &str) -> Vec<Vec<String>> {
    let Some((_, rest)) = markdown.split_once(&format!("\n## {title}\n")) else { return Vec::new() };
    let section = rest.split("\n## ").next().unwrap_or("");
    let is_row = |line: &&str| line.starts_with("| `");
    let cell = |cell: &str| cell.trim().replace("\\|", "|");
    section
        .lines()
        .filter(is_row)
        .map(|line| line.trim_start_matches("| ").trim_end_matches(" |").replace("\\|", "\u{1}"))
        .map(|line| {
            line.split(" | ").map(|one| cell(&one.replace('\u{1}', "|")).trim_matches('`').to_owned()).collect()
        })
        .collect()
}

/// Returns what precedes the prose in a cell.
fn before_prose(cell: &str) -> &str {
    cell.split("; ").next().unwrap_or("").trim_matches('`')
}

#[test]
fn every_number_of_the_markdown() {
    for (isa, written) in machines() {
        let markdown = lathe_doc::markdown(&Sheet::new(&isa, &written));
        let registers = section(&markdown, "Registers");
        let model = std::iter::once((isa.pc.name.as_str(), isa.pc.width, isa.pc.reset))
            .chain(isa.registers.iter().map(|one| (one.name.as_str(), one.width, one.reset)));
        assert_eq!(registers.len(), isa.registers.len() + 1);
        for (row, (name, width, reset)) in registers.iter().zip(model) {
            let (bits, value) = (number(&row[1]), written_number(&isa, &row[2]));
            assert_eq!((row[0].as_str(), bits, value), (name, width.bits().into(), reset));
        }
        let views = section(&markdown, "Views");
        assert_eq!(views.len(), isa.views.len());
        for (row, view) in views.iter().zip(&isa.views) {
            assert_eq!((row[0].as_str(), number(&row[1])), (view.name.as_str(), view.place.width.bits().into()));
        }
        let memories = section(&markdown, "Memory");
        assert_eq!(memories.len(), isa.memories.len());
        for (row, memory) in memories.iter().zip(&isa.memories) {
            assert_eq!((u128::from(number(&row[1])), number(&row[2])), (memory.cells(), memory.cell.bits().into()));
        }
        let maps = section(&markdown, "Memory map");
        let places = maps.iter().map(|row| row[1].split_once("..").expect("a range"));
        page::assert_mapped(
            &isa,
            places.map(|(first, last)| (written_number(&isa, first), written_number(&isa, last))),
        );
        let contents = section(&markdown, "Contents at reset");
        assert_eq!(contents.len(), isa.contents.len());
        for (row, contents) in contents.iter().zip(&isa.contents) {
            let cells: Vec<u64> = before_prose(&row[2]).split(' ').map(|cell| written_number(&isa, cell)).collect();
            assert_eq!(
                (written_number(&isa, &row[1]), cells),
                (contents.address, contents.values.clone()),
                "{}",
                isa.name
            );
        }
        let traps = section(&markdown, "Traps");
        assert_eq!(traps.len(), isa.traps.len());
        for (row, (name, value)) in traps.iter().zip(&isa.traps) {
            assert_eq!((&row[0], number(before_prose(&row[1]))), (name, *value));
        }
        let all = section(&markdown, "Operands");
        assert_eq!(all.len(), fields(&isa).len());
        for (row, field) in all.iter().zip(fields(&isa)) {
            assert_eq!((row[0].as_str(), number(&row[1])), (field.name.as_str(), field.width.bits().into()));
            for pair in row.last().into_iter().flat_map(|codes| codes.split(", ")).filter(|pair| pair.contains(' ')) {
                let (name, code) = pair.split_once(' ').expect("a name and its code");
                for (name, code) in expanded(name.trim_matches('`'), code) {
                    assert_eq!(code_of(field, &name), Some(number(&code)), "{} {pair}", isa.name);
                }
            }
        }
        let instructions = section(&markdown, "Instructions");
        let rows = rows(&isa);
        assert_eq!(instructions.len(), rows.len(), "{}", isa.name);
        for (line, row) in instructions.iter().zip(&rows) {
            assert_eq!(line[2], range(lengths(&row[0])), "{} {}", isa.name, line[0]);
            if isa.has_cycles {
                assert_eq!(line[3], cycles_of_row(row), "{} {}", isa.name, line[0]);
            }
        }
        if let Some(share) = coverage(&isa).share {
            assert!(markdown.contains(&format!("\n{} of all encodings are defined.\n", percent(share))));
        }
    }
}

#[test]
fn every_number_of_the_card() {
    for (isa, written) in machines() {
        let card = lathe_doc::card_svg(&Sheet::new(&isa, &written));
        let cells = |class: &str| -> Vec<String> {
            let start = format!("<text class=\"{class}\"");
            card.split(&start)
                .skip(1)
                .map(|rest| text(rest.split_once('>').expect("a tag").1.split("</text>").next().unwrap_or("")))
                .collect()
        };
        let bits = |width: u32| if width == 1 { "1 bit".to_owned() } else { format!("{width} bits") };
        let mut expected = vec![bits(isa.pc.width.bits())];
        let registers = isa.registers.chunk_by(|one, next| {
            (one.width, one.constant, one.mode.is_some()) == (next.width, next.constant, next.mode.is_some())
        });
        expected.extend(registers.map(|chunk| bits(chunk[0].width.bits())));
        expected.extend(isa.views.iter().map(|view| bits(view.place.width.bits())));
        let widths: Vec<String> =
            cells("c1").into_iter().filter(|cell| cell.ends_with(" bit") || cell.ends_with(" bits")).collect();
        assert_eq!(widths[..expected.len()], expected, "{}", isa.name);
        let stored: BTreeSet<String> = fields(&isa).iter().map(|field| bits(field.stored_bits())).collect();
        assert_eq!(widths[expected.len()..].iter().cloned().collect::<BTreeSet<_>>(), stored, "{}", isa.name);
        let start = cells("c2")
            .into_iter()
            .find_map(|cell| cell.strip_prefix("begins at ").map(|start| written_number(&isa, start)));
        assert_eq!(start, Some(isa.pc.reset));
        let names = cells("c0");
        let places = names.iter().filter_map(|cell| {
            let (memory, place) = cell.split_once(' ')?;
            let is_memory = isa.memories.iter().any(|one| one.name == memory);
            if !is_memory || !place.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            let (first, last) = place.split_once("..").unwrap_or((place, place));
            Some((written_number(&isa, first), written_number(&isa, last)))
        });
        page::assert_mapped(&isa, places);
    }
}

#[test]
fn every_number_of_the_json() {
    for (isa, written) in machines() {
        let json: Value = serde_json::from_str(&lathe_doc::json(&Sheet::new(&isa, &written))).expect("it is JSON");
        let list = |name: &str| json[name].as_array().unwrap_or_else(|| panic!("{name}")).clone();
        for (one, memory) in list("memories").iter().zip(&isa.memories) {
            assert_eq!(
                (&one["address_bits"], one["cells"].as_u64().map(u128::from)),
                (&memory.address.bits().into(), Some(memory.cells()))
            );
            assert_eq!(one["cell_bits"], memory.cell.bits());
        }
        assert_eq!((&json["pc"]["bits"], &json["pc"]["reset"]), (&isa.pc.width.bits().into(), &isa.pc.reset.into()));
        assert_eq!(list("registers").len(), isa.registers.len());
        for (one, register) in list("registers").iter().zip(&isa.registers) {
            assert_eq!((&one["bits"], &one["reset"]), (&register.width.bits().into(), &register.reset.into()));
        }
        for (one, view) in list("views").iter().zip(&isa.views) {
            assert_eq!(one["bits"], view.place.width.bits());
        }
        assert_eq!(list("fields").len(), fields(&isa).len());
        for (one, field) in list("fields").iter().zip(fields(&isa)) {
            assert_eq!((&one["bits"], &one["stored_bits"]), (&field.width.bits().into(), &field.stored_bits().into()));
            for value in one["values"].as_array().into_iter().flatten() {
                let name = value["name"].as_str().unwrap_or("");
                assert_eq!(code_of(field, name), value["value"].as_u64(), "{}", isa.name);
            }
        }
        for (one, operand) in list("modes").iter().zip(&isa.operands) {
            assert_eq!(one["bits"], operand.width.bits());
        }
        for (one, device) in list("devices").iter().zip(&isa.devices) {
            for (one, operation) in one["operations"].as_array().into_iter().flatten().zip(device.kind.operations()) {
                let arguments: Vec<u32> = operation.arguments.iter().map(|width| width.bits()).collect();
                assert_eq!(
                    (&one["arguments"], &one["result"]),
                    (&arguments.into(), &operation.result.map(|width| width.bits()).into())
                );
            }
        }
        for (one, map) in list("maps").iter().zip(&isa.maps) {
            assert_eq!((&one["first"], &one["last"]), (&map.first.into(), &map.last.into()));
        }
        for (one, contents) in list("contents").iter().zip(&isa.contents) {
            assert_eq!((&one["address"], &one["cells"]), (&contents.address.into(), &contents.values.clone().into()));
        }
        for (one, (_, value)) in list("traps").iter().zip(&isa.traps) {
            assert_eq!(one["value"], *value);
        }
        let coverage = coverage(&isa);
        assert_eq!(
            (&json["coverage"]["bits"], json["coverage"]["share"].as_f64()),
            (&coverage.bits.into(), coverage.share)
        );
        for (one, slot) in json["coverage"]["slots"].as_array().into_iter().flatten().zip(&coverage.slots) {
            let rows: BTreeSet<u64> = slot.instructions.iter().map(|id| u64::from(isa.instruction(*id).row)).collect();
            let told: BTreeSet<u64> = one["rows"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
            assert_eq!(told, rows, "{}", isa.name);
        }
        let told: Vec<Value> =
            list("rows").iter().flat_map(|row| row["instructions"].as_array().cloned().unwrap_or_default()).collect();
        let all = shown(&isa);
        assert_eq!(told.len(), all.len());
        for (one, same) in told.iter().zip(&all) {
            let longest = same.iter().map(|one| one.encoding.cells).max();
            assert_eq!(
                (&one["cells"], &one["longest"]),
                (&same[0].look().1.cells.into(), &longest.into()),
                "{}",
                isa.name
            );
            let counted = same.iter().map(|one| cycles(one)).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
            assert_eq!(
                one["cycles"],
                Value::from(counted.filter(|_| isa.has_cycles).map(Vec::from)),
                "{} {}",
                isa.name,
                one["syntax"]
            );
        }
        for (one, example) in list("examples").iter().zip(&isa.examples) {
            let instruction = isa.instruction(example.instruction);
            let all = cells(instruction.encoding.encode(&example.operands), isa.code_memory().cell);
            let all: Vec<u64> = all.take(instruction.encoding.cells as usize).collect();
            assert_eq!((&one["cells"], &one["row"]), (&all.into(), &instruction.row.into()));
        }
    }
}

/// What a machine's programs may have besides the assembly language: the addresses of sections, the bases of numbers,
/// and functions whose values are those that the assembler computes.
#[test]
fn habits_are_those_of_the_model() {
    let mut sections = 0;
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let habits = table(&page, "habits");
        let meaning = |name: &str| {
            let row = habits.iter().find(|row| row[0] == name);
            row.unwrap_or_else(|| panic!("{}: no `{name}` in {habits:?}", isa.name))[1].clone()
        };
        for section in &isa.assembly.sections {
            let told = meaning(&section.name);
            let (memory, address) =
                told.strip_prefix("a section, from ").and_then(|rest| rest.split_once('[')).unwrap();
            assert_eq!(memory, isa.memory(section.memory).name, "{}", section.name);
            assert_eq!(number(address.split_once(']').unwrap().0), section.address, "{}", section.name);
            sections += 1;
        }
        for (prefix, base) in &isa.assembly.prefixes {
            assert_eq!(meaning(&format!("{prefix}…")), format!("a number in base {base}"));
        }
        for (name, means) in &isa.assembly.directives {
            assert_eq!(meaning(name), means.as_deref().unwrap_or("says nothing here"), "{}", isa.name);
        }
    }
    assert!(sections > 0);
    // Formulas are shown as written.
    let formula = |machine: &str, name: &str| {
        let (isa, written) = machines().into_iter().find(|(isa, _)| isa.name == machine).unwrap();
        let habits = table(&lathe_doc::html(&Sheet::new(&isa, &written)), "habits");
        habits.into_iter().find(|row| row[0] == name).map(|row| row[1].clone())
    };
    assert_eq!(formula("rv32i", "%hi(V)").as_deref(), Some("(V + 0x800)[31:12]"));
    assert_eq!(formula("mos6502", "hi V").as_deref(), Some("V[15:8]"));
}
