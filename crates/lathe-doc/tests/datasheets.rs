//! Datasheets of all machines: everything on them is in the model, everything is escaped, nothing is fetched, and the
//! JSON matches its schema. `numbers.rs` checks that every number is that of the model.

mod page;

use std::collections::BTreeSet;

use lathe_doc::Sheet;
use lathe_isa::coverage::{Filling, coverage};
use lathe_isa::model::{Domain, Instruction};
use page::{machines, number, table, text, written as written_number};
use serde_json::Value;

#[test]
fn registers_views_and_memories_are_those_of_the_model() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        let registers = table(&page, "registers");
        assert_eq!(
            (registers[0][0].as_str(), written_number(&isa, &registers[0][2])),
            (isa.pc.name.as_str(), isa.pc.reset)
        );
        // Registers that differ in nothing else share a line, which may list a value at reset for each of them.
        let told = registers[1..].iter().flat_map(|row| {
            let resets: Vec<&str> = row[2].split(' ').collect();
            let names: Vec<&str> = row[0].split(' ').collect();
            assert!(resets.len() == 1 || resets.len() == names.len(), "{row:?}");
            let reset = move |at: usize| resets.get(at).copied().unwrap_or(resets[0]);
            names.into_iter().enumerate().map(move |(at, name)| (name, row, reset(at)))
        });
        assert_eq!(told.clone().count(), isa.registers.len(), "{}", isa.name);
        for ((names, row, reset), register) in told.zip(&isa.registers) {
            let mut names = names.split('/');
            let name = names.next().unwrap_or_default();
            assert_eq!(name, register.name);
            let fields = isa.fields.iter().filter(|field| matches!(field.domain, Domain::Registers(_)));
            let code = |name: &str| fields.clone().find_map(|field| field.bits_named(name));
            names.for_each(|other| assert_eq!(code(other), code(name), "{other} is another name for {name}"));
            assert_eq!(
                (number(&row[1]), written_number(&isa, reset)),
                (register.width.bits().into(), register.reset),
                "{name}"
            );
        }
        for (row, view) in table(&page, "views").iter().zip(&isa.views) {
            assert_eq!((row[0].as_str(), number(&row[1])), (view.name.as_str(), view.place.width.bits().into()));
        }
        for (row, memory) in table(&page, "memories").iter().zip(&isa.memories) {
            assert_eq!(row[0], memory.name);
            assert_eq!((u128::from(number(&row[1])), number(&row[2])), (memory.cells(), memory.cell.bits().into()));
        }
        let maps = table(&page, "maps");
        let places = maps.iter().map(|row| row[1].split_once(" to ").unwrap_or((&row[1], &row[1])));
        page::assert_mapped(
            &isa,
            places.map(|(first, last)| (written_number(&isa, first), written_number(&isa, last))),
        );
        assert!(maps.iter().all(|row| !row[2].contains('…')), "{}: the text of a map is missing", isa.name);
        for (row, (name, value)) in table(&page, "traps").iter().zip(&isa.traps) {
            assert_eq!((row[0].as_str(), number(&row[1])), (name.as_str(), *value));
        }
        // Fields that differ only in their names share a line.
        let fields = table(&page, "fields");
        let told = fields.iter().flat_map(|row| row[0].split(' ').map(move |name| (name, row)));
        // After a prefix, a field of the same name stands for other registers; fields made for modes do not concern a
        // reader.
        let mut known = BTreeSet::new();
        let declared = isa.fields.iter().filter(|field| isa.names.get(&field.name).is_some());
        let plain: Vec<_> = declared.filter(|field| known.insert(&field.name)).collect();
        assert_eq!(told.clone().count(), plain.len());
        for ((name, row), field) in told.zip(plain) {
            let bits = row[1].split_once(',').map_or(row[1].as_str(), |(bits, _)| bits);
            assert_eq!((name, number(bits)), (field.name.as_str(), field.width.bits().into()));
        }
    }
}

/// Programs for rv32i say `a0`, and the page has it.
#[test]
fn names_that_programs_use_are_there() {
    let (isa, written) = machines().into_iter().find(|(isa, _)| isa.name == "rv32i").expect("it ships");
    let sheet = Sheet::new(&isa, &written);
    let page = lathe_doc::html(&sheet);
    assert!(table(&page, "registers").iter().any(|row| row[0].contains("x8/s0/fp x9/s1 x10/a0")), "registers");
    assert!(
        table(&page, "fields").iter().any(|row| row[0] == "D S T" && row[3].contains("x10/a0\u{a0}10")),
        "operands"
    );
    // A long cell continues on the next line.
    let card = text(&lathe_doc::card_svg(&sheet).replace("</text>", " "));
    assert!(card.contains("also ra sp gp tp t0 to t2 s0 s1"), "{card}");
}

/// Nothing on a card is cut off, no heading is alone at the end of its column, and families are listed once.
#[test]
fn cards_are_whole() {
    for (isa, written) in machines() {
        let card = lathe_doc::card_svg(&Sheet::new(&isa, &written));
        assert!(!card.contains('…'), "{}: something is cut", isa.name);
        let texts: Vec<(f64, &str)> = card
            .split("<text class=\"")
            .skip(3)
            .map(|text| {
                let (_, rest) = text.split_once(" y=\"").expect("a text has a place");
                (rest.split('"').next().and_then(|y| y.parse().ok()).expect("a number"), &text[..1])
            })
            .collect();
        let lowest = texts.iter().map(|(y, _)| *y).fold(0.0, f64::max);
        assert!(!texts.contains(&(lowest, "h")), "{}: a heading below everything", isa.name);
        let families: Vec<&str> = card.split(">{ALU}<").collect();
        assert!(families.len() <= 2, "{}: {{ALU}} is listed {} times", isa.name, families.len() - 1);
        // Those in rows that prefixes change are there, too.
        assert!(isa.name != "z80" || card.contains(">nz z nc c po pe p m<"), "{card}");
    }
}

/// A `|` between parentheses is an operator and not the end of a column.
#[test]
fn columns_of_maps_are_whole() {
    let (isa, written) = machines().into_iter().find(|(isa, _)| isa.name == "rv32i").expect("it ships");
    let page = lathe_doc::html(&Sheet::new(&isa, &written));
    let row = table(&page, "maps").into_iter().find(|row| row[1] == "0x300").expect("mstatus is mapped");
    assert_eq!(row[2..4], ["(csr[address] | 0x1800)", "csr[address] = value & 0x88"]);
}

/// Returns the fixed bits of an encoding's picture and their values, the first cell's first bit highest.
fn fixed(bits: &str, cell: usize, word: usize, little: bool) -> (u128, u128) {
    let characters: Vec<char> = bits.chars().collect();
    let mut order: Vec<char> = Vec::new();
    for word in characters.chunks(word) {
        let cells: Vec<&[char]> = word.chunks(cell).collect();
        let cells: Vec<&&[char]> = if little { cells.iter().rev().collect() } else { cells.iter().collect() };
        order.extend(cells.into_iter().flat_map(|cell| cell.iter()));
    }
    order.iter().enumerate().fold((0, 0), |(mask, value), (at, c)| {
        let bit = 1u128 << (127 - at);
        match c {
            '0' => (mask | bit, value),
            '1' => (mask | bit, value | bit),
            _ => (mask, value),
        }
    })
}

#[test]
fn every_instruction_has_its_bits_cycles_and_length() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let all: Vec<_> =
            sheet.rows.iter().flat_map(|row| row.instructions.iter().map(move |one| (row, one))).collect();
        // A sheet shows one of the instructions that differ only in the modes of operands.
        let mut shown: Vec<&Instruction> = Vec::new();
        for instruction in &isa.instructions {
            if !shown.iter().any(|known| known.is_seen_as(instruction)) {
                shown.push(instruction);
            }
        }
        assert_eq!(all.len(), shown.len(), "{}", isa.name);
        let cell = isa.code_memory().cell.bits();
        for ((row, one), instruction) in all.iter().zip(shown) {
            let encoding = instruction.look().1;
            assert_eq!(one.mnemonic.split('…').next().unwrap_or_default(), instruction.syntax.mnemonic());
            assert_eq!(one.cells, encoding.cells);
            let seen_alike = |other: &&Instruction| other.row == instruction.row && other.is_seen_as(instruction);
            let longest = isa.instructions.iter().filter(seen_alike).map(|other| other.encoding.cells).max();
            assert_eq!(Some(one.longest), longest, "{}", one.syntax);
            assert_eq!(one.bits.chars().count() as u32, encoding.cells * cell);
            let found = fixed(&one.bits, cell as usize, row.word_bits as usize, row.word_bits > cell);
            assert_eq!(found, (encoding.fixed.mask, encoding.fixed.value), "{} {}", isa.name, one.syntax);
            assert_eq!(one.parts.iter().map(|part| part.width).sum::<u32>(), encoding.cells * cell);
            let cycles = one.cycles.map_or(0, |(least, most)| least.min(most));
            assert!(cycles >= instruction.cycles || !isa.has_cycles);
            assert_eq!(one.cycles.is_some(), isa.has_cycles);
            let effects = instruction.body.effects();
            for flag in &one.flags {
                let view = isa.views.iter().find(|view| view.name == flag.name);
                let register = view.map(|view| view.place.parts[0].register.index());
                let register = register.or(isa.registers.iter().position(|register| register.name == flag.name));
                let is_written = effects.writes.iter().any(|one| Some(one.index()) == register);
                assert!(is_written || !effects.operands_written.is_empty(), "{} {}", one.syntax, flag.name);
            }
        }
    }
}

#[test]
fn the_page_shows_the_diagram_of_every_row() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let page = lathe_doc::html(&sheet);
        let shown: Vec<&str> = page.split("data-bits=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let expected: Vec<&str> = sheet.rows.iter().map(|row| row.bits.as_str()).collect();
        assert_eq!(shown, expected, "{}", isa.name);
        let opcodes = table(&page, "opcodes");
        assert_eq!(opcodes.len(), sheet.rows.iter().map(|row| row.instructions.len()).sum::<usize>());
        for row in &sheet.rows {
            assert!(page.contains(&format!("id=\"{}\"", row.id)), "{}", row.id);
        }
    }
}

#[test]
fn the_opcode_map_is_the_coverage() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let coverage = coverage(&isa);
        let map = lathe_doc::html(&sheet);
        let map = map
            .split_once("<table class=\"map\">")
            .expect("there is a map")
            .1
            .split_once("</table>")
            .expect("it ends")
            .0;
        let cells: Vec<&str> = map.split("<td class=\"").skip(1).collect();
        assert_eq!(cells.len(), coverage.slots.len(), "{}", isa.name);
        for (cell, slot) in cells.iter().zip(&coverage.slots) {
            let filling = match slot.filling() {
                Filling::Full => "full",
                Filling::Partial => "partial",
                Filling::Empty => "empty",
            };
            assert!(cell.starts_with(filling));
            let first = slot.instructions.first().map(|id| isa.instruction(*id).syntax.mnemonic());
            assert!(first.is_none_or(|first| text(cell.split_once('>').expect("a tag").1).contains(first)), "{cell}");
        }
    }
}

#[test]
fn examples_were_executed() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        assert_eq!(sheet.examples.len(), isa.examples.len());
        assert!(sheet.examples.iter().all(|example| example.passed && !example.after.is_empty()), "{}", isa.name);
    }
    let text = lathe_machines::find("quad8")
        .expect("it ships")
        .definition
        .replace("b = 1, c = 2 -> b = 0xFF", "b = 1, c = 2 -> b = 7");
    let loaded = lathe_isa::load(&text);
    let isa = loaded.isa.expect("examples are not run here");
    let failed: Vec<_> =
        Sheet::new(&isa, &loaded.written).examples.into_iter().filter(|example| !example.passed).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].source, "sub b, c");
}

#[test]
fn flags_that_are_always_set_alike_say_so() {
    let definition = lathe_machines::find("sm83").expect("it ships").definition;
    let loaded = lathe_isa::load(definition);
    let isa = loaded.isa.expect("it ships");
    let sheet = Sheet::new(&isa, &loaded.written);
    let effects = |syntax: &str| -> Vec<(String, String)> {
        let row = sheet.rows.iter().find(|row| row.syntax == syntax).unwrap_or_else(|| panic!("{syntax}"));
        row.instructions[0].flags.iter().map(|flag| (flag.name.clone(), flag.effect.clone())).collect()
    };
    let pairs =
        |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
    assert_eq!(effects("scf"), pairs(&[("nf", "0"), ("hf", "0"), ("cf", "1")]));
    assert_eq!(effects("bit B, R"), pairs(&[("zf", "changed"), ("nf", "0"), ("hf", "1")]));
    assert_eq!(effects("ld R, S"), []);
    let jump = sheet.rows.iter().find(|row| row.syntax == "jr {IF}, J").expect("it exists");
    assert_eq!(jump.instructions[0].cycles, Some((2, 3)));
    assert_eq!(jump.bits, "001**000JJJJJJJJ");
}

/// Named bits of a register are followed through operations on the whole register.
#[test]
fn flags_in_a_register_are_told_apart() {
    let loaded = lathe_isa::load(lathe_machines::find("i8080").expect("it ships").definition);
    let isa = loaded.isa.expect("it ships");
    let sheet = Sheet::new(&isa, &loaded.written);
    let effects = |syntax: &str| -> String {
        let row = sheet.rows.iter().find(|row| row.syntax == syntax).unwrap_or_else(|| panic!("{syntax}"));
        row.instructions[0].flags.iter().map(|flag| format!("{} {}, ", flag.name, flag.effect)).collect()
    };
    assert_eq!(effects("stc"), "cf 1, ei 0, ");
    assert_eq!(effects("dad P"), "cf changed, ei 0, ");
    assert_eq!(effects("inr R"), "sf changed, zf changed, hf changed, pf changed, ei 0, ");
    assert_eq!(effects("mov R, S"), "ei 0, ");
    assert_eq!(effects("pop Q"), "sf changed, zf changed, hf changed, pf changed, cf changed, ei 0, ");
}

#[test]
fn a_page_fetches_nothing_and_runs_nothing() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        for page in [lathe_doc::html(&sheet), lathe_doc::card_html(&sheet), lathe_doc::card_svg(&sheet)] {
            for word in ["<script", "src=", "url(", "@import", "<link", "onload"] {
                assert!(!page.contains(word), "{} has {word}", isa.name);
            }
            let addresses = page.matches("http").count() - page.matches("http-equiv").count();
            assert!(addresses <= page.matches("http://www.w3.org/2000/svg").count(), "{}", isa.name);
        }
    }
}

#[test]
fn what_a_definition_says_is_text_and_never_markup() {
    let text = "machine evil \"<script>alert(1)</script>\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a : u8\n\
                instructions {\n  ## <img src=x onerror=alert(1)> & `<u>`\n  st <i> | 0000 0000 | a = a < 1 ? 2 : 3\n}\n\
                examples {\n  st <i> : -> a = 2\n}\n";
    let loaded = lathe_isa::load(text);
    let sheet = Sheet::new(&loaded.isa.expect("it is sound"), &loaded.written);
    for page in [lathe_doc::html(&sheet), lathe_doc::card_html(&sheet), lathe_doc::card_svg(&sheet)] {
        for word in ["<script", "<img", "<i>", "<u>"] {
            assert!(!page.contains(word), "{word} in:\n{page}");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    for (isa, written) in machines() {
        let page = lathe_doc::html(&Sheet::new(&isa, &written));
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "{}: #{target}", isa.name);
        }
    }
}

/// Validates as much of JSON Schema as ours uses.
fn validate(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.trim_start_matches("#/").split('/').fold(root, |value, key| &value[key]);
        return validate(value, target, root, at);
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{at}");
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{at}: {value}");
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => {
            if number.is_f64() {
                "number"
            } else {
                "integer"
            }
        }
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = |name: &Value| name == kind || (kind == "integer" && name == "number");
    match &schema["type"] {
        Value::Array(kinds) => assert!(kinds.iter().any(allowed), "{at}: {kind}"),
        Value::Null => {}
        one => assert!(allowed(one), "{at}: {kind} is no {one}"),
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        validate(item, &schema["items"], root, &format!("{at}[{index}]"));
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        let property = schema["properties"].get(key).unwrap_or_else(|| panic!("{at}.{key} is not in the schema"));
        validate(item, property, root, &format!("{at}.{key}"));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter(|_| value.is_object()) {
        assert!(value.get(key.as_str().expect("a name")).is_some(), "{at} has no {key}");
    }
}

#[test]
fn the_json_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(lathe_doc::SCHEMA).expect("it is JSON");
    for (isa, written) in machines() {
        let json: Value = serde_json::from_str(&lathe_doc::json(&Sheet::new(&isa, &written))).expect("it is JSON");
        validate(&json, &schema, &schema, &isa.name);
    }
}

/// The page shows prose wherever a definition has it, above a declaration or after it on its line.
#[test]
fn prose_is_shown() {
    let definition = "## On the machine,\n## in two lines.\nmachine m \"\"\n## On the memory.\nmemory ram : u8 -> u8\npc pc : u8 in ram  ## on the counter\n## On the register,\nregister a, b : u8  ## and after it.\nview v = a[3:0]  ## on the view\n## On the field.\nfield N : u8\ndevice console : stream  ## on the device\n## On the function.\nfn f(x: u8) -> u8 { x + a + b }\n## On the family.\nfamily OP : u1 (x: u8) -> u8 {\n  inc = x + 1\n  dec = x - 1\n}\n## On the prefix.\nprefix p 0xDD with a = b { }  ## And after it.\n## First heading\ninstructions after p {\n  ## On the row.\n  ldi N | 0x01 {N} | a = f(N)\n  {OP} a | 0000 100 {OP} | a = OP(a)\n\n  ## Second heading\n  ## with a line of its own\n\n  out | 0x02 | console.write(v ++ v)\n}\n";
    let loaded = lathe_isa::load(definition);
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let sheet = Sheet::new(&isa, &loaded.written);
    assert_eq!(sheet.documentation, "On the machine,\nin two lines.");
    let prose = [
        "On the memory.",
        "on the counter",
        "On the register,\nand after it.",
        "on the view",
        "On the field.",
        "on the device",
        "On the function.",
        "On the family.",
        "On the prefix.\nAnd after it.",
        "On the row.",
    ];
    let (html, json) = (lathe_doc::html(&sheet), lathe_doc::json(&sheet));
    for text in prose {
        assert!(html.replace('\n', " ").contains(&text.replace('\n', " ")), "{text}");
        assert!(json.contains(&text.replace('\n', "\\n")), "{text}");
    }
    assert_eq!(sheet.rows[0].heading, "First heading");
    assert!(html.contains("<h2 class=\"group\">First heading</h2>"));
    assert!(html.contains("<h2 class=\"group\">Second heading</h2>\n<p>with a line of its own</p>"));
    assert_eq!(table(&html, "prefixes"), [["p", "0xDD", "a = b", "On the prefix.\nAnd after it."]]);
    assert_eq!(table(&html, "fields").len(), 1);
}
